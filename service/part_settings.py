"""Settings of a model's parts: fields made from the table of parts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model
from pydantic_settings import BaseSettings

from earshot.streaming.parts.option import Option
from earshot.streaming.parts.table import chosen_parts, part_settings

PART_FILES = tuple(part.name for part in chosen_parts())
"""Names of the settings that choose parts."""

PART_OPTIONS = tuple(option.name for option in part_settings())
"""Names of the settings that say how parts are used."""

_TYPES: dict[str, type] = {"number": float, "integer": int, "boolean": bool}


def _fields() -> dict[str, Any]:
    files = {
        part.name: (Literal["none"] | Path | None, Field(None, description=part.help))
        for part in chosen_parts()
    }
    return {**files, **{option.name: _field(option) for option in part_settings()}}


def _field(option: Option) -> tuple[Any, Any]:
    kind = _TYPES[option.kind]
    annotation = kind if option.default is not None else kind | None
    if option.is_switch:
        return annotation, Field(option.default, description=option.help)
    low, high = kind(option.low), kind(option.high)
    return annotation, Field(option.default, ge=low, le=high, description=option.help)


if TYPE_CHECKING:
    PartSettings = BaseSettings
else:
    PartSettings = create_model("PartSettings", __base__=BaseSettings, **_fields())
