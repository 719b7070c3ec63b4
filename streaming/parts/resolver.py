"""Where the parts of a model lie: as somebody has asked, or else beside the model."""

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from earshot.models.bundled import bundled_model_dir
from earshot.streaming.errors import MissingPart
from earshot.streaming.parts.part import Part
from earshot.streaming.parts.table import PARTS, chosen_parts

NONE = "none"
Wish: TypeAlias = Path | Literal["none"] | None


def find_parts(
    model: Path | None = None,
    asked: Mapping[str, Wish] | None = None,
    named: Container[str] = (),
) -> dict[str, Path]:
    """The files of a model's parts by name.

    model: its directory; the bundled one if None. asked: a file for a part, or "none"; a part that
    is not named is the one beside the model, if there is one, and a part that needs another comes
    along with the model's own alone. named: settings of parts that somebody has set.

    Raises MissingPart where a part or a setting is of no use without a part that is not there.
    """
    wishes = asked or {}
    found: dict[str, Path] = {}
    for part in chosen_parts():
        path = _find(part, model or bundled_model_dir(), wishes, found)
        if path is None:
            _refuse_settings(part, named)
        else:
            found[part.name] = path
    return found


def _find(
    part: Part[Any], model: Path, wishes: Mapping[str, Wish], found: Mapping[str, Path]
) -> Path | None:
    wish = wishes.get(part.name)
    if part.needs is not None and part.needs not in found:
        if wish is not None and wish != NONE:
            raise MissingPart(f"{part.name}={wish} {part.of_no_use}")
        return None
    if isinstance(wish, Path):
        return wish
    is_another = part.needs is not None and wishes.get(part.needs) is not None
    own = model / part.file
    return None if wish == NONE or is_another or not own.is_file() else own


def _refuse_settings(missing: Part[Any], named: Container[str]) -> None:
    """For the part that is missing and for those that need it."""
    useless = [part for part in PARTS.values() if missing.name in (part.name, part.needs)]
    for option in (option for part in useless for option in part.settings):
        if option.name in named:
            raise MissingPart(f"{option.name} {missing.unset}")
