"""Operands as C++ values: registers, numbers, names, addresses."""

import re

from translator.errors import MalformedPtx

INTEGER = re.compile(r"(-?)(0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?$")
FLOAT = re.compile(r"0[fF]([0-9A-Fa-f]{8})$|0[dD]([0-9A-Fa-f]{16})$")
ADDRESS = re.compile(r"\[([\w$%.]+)(?:\+(-?\d+))?\]$")

# Blocks and grids have one dimension.
SPECIAL_REGISTERS = {
    "%tid.x": "t.thread",
    "%ntid.x": "t.threads",
    "%ctaid.x": "t.block",
    "%nctaid.x": "t.blocks",
    "%laneid": "(t.thread % 32)",
    "WARP_SZ": "32u",
} | {
    f"%{name}.{axis}": value
    for name, value in (("tid", "0u"), ("ntid", "1u"), ("ctaid", "0u"), ("nctaid", "1u"))
    for axis in "yz"
}


def is_number(text: str) -> bool:
    """Whether the operand is written out in the instruction."""
    return bool(INTEGER.match(text) or FLOAT.match(text))


def number(text: str, kind: str, size: int, line: int) -> str:
    """A number of the instruction as a C++ literal of the type.

    Raises:
        MalformedPtx: it does not fit the type.
    """
    if match := FLOAT.match(text):
        digits = match[1] or match[2]
        if len(digits) != 2 * size:
            raise MalformedPtx(f"not of type {kind}: {text}", line)
        return _bits(int(digits, 16), kind, size)
    value = integer(text, line)
    if kind == "pred":
        return "true" if value else "false"
    if kind.startswith("f"):
        raise MalformedPtx(f"not of type {kind}: {text}", line)
    return _bits(value % (1 << 8 * size), kind, size)


def integer(text: str, line: int) -> int:
    """The value of a whole number, in any of PTX's bases.

    Raises:
        MalformedPtx: it is none.
    """
    match = INTEGER.match(text)
    if match is None:
        raise MalformedPtx(f"not a number: {text}", line)
    digits = match[2].lower()
    is_octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    value = int(digits, 8 if is_octal else 0)
    return -value if match[1] else value


def address_parts(text: str, line: int) -> tuple[str, int]:
    """Of `[%rd1+-8]` the base and the offset.

    Raises:
        MalformedPtx: it is no address.
    """
    match = ADDRESS.match(text.replace(" ", ""))
    if match is None:
        raise MalformedPtx(f"not an address: {text}", line)
    return match[1], int(match[2] or 0)


def _bits(value: int, kind: str, size: int) -> str:
    literal = f"{value:#x}ull" if size == 8 else f"{value:#x}u"
    if kind.startswith("f"):
        return f"bits<{kind}>({literal})"
    signed_or_small = kind.startswith("s") or size < 4
    return f"{kind.replace('b', 'u')}({literal})" if signed_or_small else literal
