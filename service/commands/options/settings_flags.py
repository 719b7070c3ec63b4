"""Flags for settings: made from their names, types and descriptions, so that none is forgotten."""

import argparse
from collections.abc import Iterable
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from earshot.service.part_settings import PART_FILES, PART_OPTIONS
from earshot.service.settings import Settings

ENGINE_SETTINGS = (
    "config", "model", *PART_FILES, "lm_dir", "device", "precision", "chunk_size",
    "num_left_chunks", "threads", "beam_size", "transducer_beam", "transducer_loop",
    *PART_OPTIONS, "max_batch", "max_wait_ms", "max_backlog_s", "boost_weight", "max_phrases",
    "silence_ms",
)  # fmt: skip
"""What matters to commands that decode without a server."""


def add_settings_flags(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Add one flag per setting; one not given stays None: files and environment count then."""
    group = parser.add_argument_group("settings", "also EARSHOT_NAME in the environment")
    for name in names:
        _add_flag(group, name, Settings.model_fields[name])


def settings_from(arguments: argparse.Namespace, names: Iterable[str]) -> Settings:
    """Build the settings from the flags given; raises StartupError as `Settings.load` does."""
    return Settings.load(**{name: getattr(arguments, name) for name in names})


def _add_flag(group: "argparse._ArgumentGroup", name: str, field: FieldInfo) -> None:
    flag = "--" + name.replace("_", "-")
    default = field.default
    shown = "" if default in (None, (), False) else f" (default {_shown(default)})"
    text = (f"{field.description}{shown}").replace("%", "%%")
    if field.annotation is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
    elif get_origin(field.annotation) is Literal:
        group.add_argument(flag, choices=get_args(field.annotation), help=text)
    else:
        group.add_argument(flag, metavar=name.rsplit("_", 1)[-1].upper(), help=text)


def _shown(default: object) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
