"""Variables of a PTX file: those of the device, and where a block's shared ones lie."""

import math
import re
import struct
from dataclasses import dataclass

from translator.cpp_names import symbol_name
from translator.errors import MalformedPtx, UnknownInstruction
from translator.ptx.instruction import split_operands
from translator.ptx.ptx_source import Statement
from translator.ptx.ptx_types import SIZES, cpp_type, is_float
from translator.ptx.signature import Space, parse_space

LINKING = re.compile(r"^(?:\.(?:visible|weak|extern|common) )+")
NUMBER = re.compile(r"-?\d+U?$|-?0[xX][0-9A-Fa-f]+U?$")
FLOAT_BITS = re.compile(r"0[fFdD]([0-9A-Fa-f]{8}|[0-9A-Fa-f]{16})$")
ADDRESS = re.compile(r"(?:generic\()?([A-Za-z_$][\w$]*)\)?(?:\+(\d+))?$")


def is_variable(statement: Statement) -> bool:
    """Whether the statement declares memory of the device or of a block."""
    return LINKING.sub("", statement.text).startswith((".global ", ".const ", ".shared "))


@dataclass(frozen=True)
class DeviceVariable:
    """A variable of the whole device; its first elements have values, the others are 0."""

    space: Space
    is_constant: bool
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in C++."""
        return symbol_name(self.space.name)

    def declaration(self) -> str:
        """Its C++ declaration, without what comes before and after."""
        return f"{cpp_type(self.space.kind)} {self.name}[{self.space.elements}]"

    def definition(self) -> str:
        """Its C++ definition."""
        values = ", ".join(self.values)
        return f"alignas({self.space.alignment}) {self.declaration()} = {{{values}}};"


class SharedLayout:
    """Where shared variables lie in a block's memory: the same for all kernels of a file."""

    def __init__(self) -> None:
        self.offsets: dict[str, int] = {}
        self._dynamic: list[str] = []
        self._end = 0

    def add(self, space: Space) -> None:
        """Of an array without a size, the size comes with the launch: all such begin together."""
        if not space.elements:
            self._dynamic.append(space.name)
            return
        self.offsets[space.name] = _round_up(self._end, space.alignment)
        self._end = self.offsets[space.name] + space.bytes

    def close(self) -> int:
        """Puts the arrays without a size behind the others, and says where they begin."""
        begin = _round_up(self._end, 128) if self.offsets else 0
        self.offsets.update(dict.fromkeys(self._dynamic, begin))
        return begin


def parse_device_variable(statement: Statement) -> DeviceVariable:
    """Reads `.global .align 4 .u32 NAME[4] = {1, 2}`, or `.const`.

    Raises:
        MalformedPtx: the values are none.
        UnknownInstruction: it is of an unknown kind or has unknown values.
    """
    text = LINKING.sub("", statement.text)
    head, _, values = (part.strip() for part in text.partition("="))
    space = parse_space(head, statement.line)
    texts = split_operands(values.strip("{} "), statement.line)
    if len(texts) > space.elements:
        raise MalformedPtx(f"more values than elements: {head}", statement.line)
    return DeviceVariable(
        space,
        text.startswith(".const"),
        tuple(_value(text, space.kind, statement.line) for text in texts),
    )


def parse_shared_variable(statement: Statement) -> Space:
    """Reads `.extern .shared .align 16 .b8 NAME[]`."""
    return parse_space(LINKING.sub("", statement.text), statement.line)


def _value(text: str, kind: str, line: int) -> str:
    if NUMBER.match(text) and not is_float(kind):
        number = int(text.rstrip("U"), 0) % (1 << 8 * SIZES[kind])
        return f"static_cast<{cpp_type(kind)}>({number:#x}ull)"
    if (bits := FLOAT_BITS.match(text)) and is_float(kind) and len(bits[1]) == 2 * SIZES[kind]:
        packed = bytes.fromhex(bits[1])
        value = float(struct.unpack(">f" if kind == "f32" else ">d", packed)[0])
        if math.isfinite(value):
            return value.hex()
    if (address := ADDRESS.match(text)) and SIZES[kind] == 8:
        return f"reinterpret_cast<u64>({symbol_name(address[1])}) + {address[2] or 0}"
    raise UnknownInstruction(f"unknown value: {text}", line)


def _round_up(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment
