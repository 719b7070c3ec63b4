"""Single instructions of PTX as kernels, with values at the edges of their types."""

import itertools
import math
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from one_thread import OneThread

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
FORMATS = {"f32": "<f", "f64": "<d"}
FLOATS = (
    *(0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -3.5, 1e-310, 3e38, -7e30, 2147483648.0, 9.3e18, -9.3e18),
    *(4294967295.0, 1e300, math.inf, -math.inf, math.nan, 0.1, 255.5, 65535.9, 1 / 3, 16777217.0),
)
ROWS = 160  # for each instruction, at most

Number = int | float


@dataclass(frozen=True)
class Snippet:
    """Instructions that make `{d}` from `{a}`, `{b}` and `{c}`, and the same in Python.

    Integers reach `expected`, and leave it, as their type's values; bits are unsigned.
    """

    text: str
    result: str
    operands: tuple[str, ...]
    expected: Callable[..., Number]

    def kernel(self, name: str) -> str:
        """PTX that loads the operands, one after the other 8 bytes apart, and stores the result."""
        registers = dict(zip("abcd", [*self.operands[:3], "", "", ""], strict=False))
        registers["d"] = self.result
        lines = [
            f".reg .{_register_kind(kind)} %{letter};" for letter, kind in registers.items() if kind
        ]
        lines += [".reg .b64 %from, %to;", ".reg .pred %p, %q;", ".reg .b32 %x, %y;"]
        lines += [f"ld.param.u64 %from, [{name}_0];", f"ld.param.u64 %to, [{name}_1];"]
        lines += [
            f"ld.global.{kind} %{letter}, [%from+{8 * i}];"
            for i, (letter, kind) in enumerate(zip("abc", self.operands, strict=False))
        ]
        lines.append(self.text.format(**{letter: f"%{letter}" for letter in "abcd"}))
        lines += [f"st.global.{self.result} [%to], %d;", "ret;"]
        body = "\n".join(lines)
        return f".entry {name}(.param .u64 {name}_0, .param .u64 {name}_1)\n{{\n{body}\n}}\n"

    def rows(self) -> Iterator[tuple[Number, ...]]:
        """Combinations of edge values, all of them if they are few."""
        everything = list(itertools.product(*map(edge_values, self.operands)))
        chosen = random.Random(self.text).sample(everything, min(len(everything), ROWS))
        return iter(chosen)

    def check(self, device: OneThread, name: str) -> None:
        """Fails where the kernel and Python differ."""
        for row in self.rows():
            given = b"".join(map(_packed, self.operands, row))
            found = device.transform(name, given, 8)
            wanted = self.expected(*row)
            assert _same(found, wanted, self.result), (
                f"{self.text} of {row}: {_unpacked(found, self.result)}, not {wanted}"
            )


def in_type(value: int, kind: str) -> int:
    """The low bits of a number as a value of the type."""
    bits = int(kind[1:])
    value %= 1 << bits
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def to_f32(value: float) -> float:
    """To the nearest number of single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def edge_values(kind: str) -> list[Number]:
    """Of a type: the ends, what is near them, and some between."""
    if kind in FORMATS:
        return [to_f32(value) if kind == "f32" else value for value in FLOATS]
    bits = int(kind[1:])
    patterns = {
        *(0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 0x76543210 & ((1 << bits) - 1)),
        *((1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1), (1 << (bits - 1)) - 1),
        *((0xDEADBEEFCAFEF00D >> (64 - bits)), 1 << bits // 2, (1 << bits // 2) - 1),
    }
    return sorted({in_type(pattern, kind) for pattern in patterns})


def _register_kind(kind: str) -> str:
    return kind if kind in FORMATS else {8: "b16"}.get(int(kind[1:]), f"b{kind[1:]}")


def _packed(kind: str, value: Number) -> bytes:
    if kind in FORMATS:
        return struct.pack(FORMATS[kind], value).ljust(8, b"\0")
    return (int(value) % (1 << int(kind[1:]))).to_bytes(8, "little")


def _unpacked(data: bytes, kind: str) -> Number:
    if kind in FORMATS:
        size = int(kind[1:]) // 8
        return float(struct.unpack(FORMATS[kind], data[:size])[0])
    return in_type(int.from_bytes(data, "little"), kind)


def _same(found: bytes, wanted: Number, kind: str) -> bool:
    value = _unpacked(found, kind)
    if kind in FORMATS and math.isnan(wanted):
        return math.isnan(value)
    if kind in FORMATS:
        return value == wanted and math.copysign(1, value) == math.copysign(1, wanted)
    return value == in_type(int(wanted), kind)
