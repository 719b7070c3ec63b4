"""A message of a client that is to be an object of JSON."""

import json
from typing import Any


def object_of(message: bytes | str, most_chars: int) -> dict[str, Any] | None:
    """The object that a text message is; None where it is none, or longer than ``most_chars``."""
    if isinstance(message, bytes) or len(message) > most_chars:
        return None
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
