"""Flags for settings: made from their names, types and descriptions, so that none is forgotten."""

import argparse
from collections.abc import Collection, Iterable
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

SETTING_GROUPS: dict[str, tuple[str, ...]] = {
    "model": ("config", "model", *PART_FILES, "lm_dir", "device", "precision"),
    "address": ("host", "port", "wyoming_port", "allowed_origins"),
    "steps": (
        "chunk_size", "num_left_chunks", "threads", "engines", "max_batch", "max_wait_ms",
    ),
    "search": ("beam_size", *PART_OPTIONS, "transducer_beam", "transducer_loop"),
    "limits": (
        "max_streams", "max_files", "max_containers", "max_backlog_s", "idle_timeout_s",
        "send_timeout_s", "upload_timeout_s", "header_timeout_s", "drain_s", "max_message_bytes",
        "max_outbox_bytes", "max_file_bytes", "max_file_s",
    ),
    "requests": (
        "silence_ms", "eot_threshold", "eot_timeout_ms", "boost_weight", "max_phrases",
        "model_aliases", "strict_models", "languages",
    ),
    "logs": ("debug", "log_level", "log_text"),
}  # fmt: skip
"""Settings as help shows them; each is in one group."""


def add_settings_flags(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    """Add one flag per setting; one not given stays None: files and environment count then."""
    parser.epilog = "A setting may also be EARSHOT_NAME in the environment, or a line of --config."
    for title, members in SETTING_GROUPS.items():
        shown = [name for name in members if name in names]
        if not shown:
            continue
        group = parser.add_argument_group(title)
        for name in shown:
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
