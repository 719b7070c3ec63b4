"""The compiled replacements of a tokenizer.json's normalizer, before its library sees them.

The library takes the first number in them for the bytes of a table that follows, and allocates so
many, or ends the process: no exception can be caught.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

CHARSMAP = "precompiled_charsmap"
HEAD_BYTES = 4


def check_charsmaps(content: object) -> None:
    """Raises ValueError for a charsmap that does not hold the table it speaks of."""
    for charsmap in _charsmaps(content):
        if charsmap is None:
            continue
        try:
            table = base64.b64decode(charsmap, validate=True)
        except (TypeError, binascii.Error) as error:
            raise ValueError(f"{CHARSMAP} is not base64") from error
        size = int.from_bytes(table[:HEAD_BYTES], "little")
        if not HEAD_BYTES <= size <= len(table) - HEAD_BYTES or size % HEAD_BYTES:
            raise ValueError(f"{CHARSMAP} does not hold the table that it speaks of")


def _charsmaps(content: object) -> Iterator[Any]:
    """Charsmaps at any depth."""
    waiting = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if CHARSMAP in part:
                yield part[CHARSMAP]
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
