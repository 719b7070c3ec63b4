"""A message of a client that is to be an object of JSON."""

import json
from typing import Any, NoReturn

from earshot.language.text.unicode_text import is_unicode

ROOM_FOR_PHRASES = 128 * 1024
"""Characters of a message that has all phrases that may be boosted, however they are escaped."""


def object_of(message: bytes | str, most_chars: int) -> dict[str, Any] | None:
    """The object that a text message is; None where it is none, or longer than ``most_chars``.

    What Python's reader takes besides JSON is none: NaN, and half a surrogate pair, which nothing
    can write again.
    """
    if isinstance(message, bytes) or len(message) > most_chars:
        return None
    try:
        found = json.loads(message, parse_constant=_refuse)
        if not isinstance(found, dict):
            return None
        if "\\u" in message and not is_unicode(json.dumps(found, ensure_ascii=False)):
            return None  # without an escape a text has what its bytes had
        return found
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
