"""Values of headers made of messages, in which the client's words may stand."""

from collections.abc import Sequence
from itertools import accumulate

MAX_CHARS = 500
_CUT = " ..."
_SEPARATOR = "; "
_ROOM = MAX_CHARS - len(f"{_CUT} and 99999 more")


def header_value(message: str) -> str:
    """Return the message as printable ASCII of `MAX_CHARS` at most, with dots where it is cut.

    No space is at either end: RFC 9110 section 5.5 forbids it, and h11 then sends no answer at all.
    """
    safe = _printable(message)
    return safe if len(safe) <= MAX_CHARS else safe[: MAX_CHARS - len(_CUT)].rstrip() + _CUT


def header_list(messages: Sequence[str]) -> str:
    """Join messages, as many as have room; the value ends with how many more there are."""
    whole = _printable(_SEPARATOR.join(messages))
    if len(whole) <= MAX_CHARS:
        return whole
    ends = accumulate(len(message) + len(_SEPARATOR) for message in messages)
    told = max(1, sum(end - len(_SEPARATOR) <= _ROOM for end in ends))
    left = len(messages) - told
    more = f" and {left} more" if left else ""
    return _printable(_SEPARATOR.join(messages[:told]))[:_ROOM].rstrip() + _CUT + more


def _printable(text: str) -> str:
    return "".join(char if " " <= char <= "~" else "?" for char in text).strip()
