"""Instructions that compute one value from others: a table from opcode to C++ expression."""

from dataclasses import dataclass

from translator.cpp.cpp_code import Code, Cost
from translator.cpp.function_body import FunctionBody
from translator.ptx.instruction import Instruction
from translator.ptx.ptx_types import BITS, FLOATS, INTEGERS, cpp_type, unsigned, wide

SIGNED = ("s16", "s32", "s64")
BY_32_AND_64 = ("u32", "s32", "u64", "s64")
MOVED = (*BITS, *INTEGERS, *FLOATS)


@dataclass(frozen=True)
class Operation:
    """A C++ expression of the operands `{0}`, `{1}`, ….

    `reads` says as what type each operand is read, `result` what type the expression has: `T` is
    the instruction's type, `U` the unsigned one of its size (sums and products wrap around), `W`
    the one of twice its size, `V` the unsigned one of twice its size.
    """

    expression: str
    types: tuple[str, ...]
    reads: str
    result: str = "T"
    cost: Cost | None = None

    def apply(self, instruction: Instruction, body: FunctionBody) -> Code:
        """Translates an instruction of this operation."""
        kinds = self.reads.split()
        instruction.expect_operands(len(kinds) + 1)
        names = _types_named(instruction.type)
        values = [
            body.value(operand, names.get(kind, kind))
            for operand, kind in zip(instruction.operands[1:], kinds, strict=True)
        ]
        cpp = {name: cpp_type(kind) for name, kind in names.items()}
        value = self.expression.format(*values, **cpp)
        result = names.get(self.result, self.result)
        default = Cost.DOUBLE if instruction.type == "f64" else Cost.ALU
        return Code(
            body.assign(instruction.operands[0], value, result),
            default if self.cost is None else self.cost,
        )


def _types_named(kind: str) -> dict[str, str]:
    names = {"T": kind}
    if kind[0] in "bus" and kind[1:].isdigit():
        names |= {"U": unsigned(kind)}
        if kind[1:] in ("16", "32"):
            names |= {"W": wide(kind), "V": wide(unsigned(kind))}
    return names


_FLOAT_ROWS = {
    # Without .rn, ptxas may fuse a product and a sum; nvcc writes it under --fmad=false.
    "add.rn": Operation("{0} + {1}", FLOATS, "T T"),
    "sub.rn": Operation("{0} - {1}", FLOATS, "T T"),
    "mul.rn": Operation("{0} * {1}", FLOATS, "T T"),
    "div.rn": Operation("{0} / {1}", FLOATS, "T T"),
    "fma.rn": Operation("std::fma({0}, {1}, {2})", FLOATS, "T T T"),
    "sqrt.rn": Operation("std::sqrt({0})", FLOATS, "T"),
    "rcp.rn": Operation("{T}(1) / {0}", FLOATS, "T"),
    "neg": Operation("-{0}", FLOATS, "T"),
    "abs": Operation("std::fabs({0})", FLOATS, "T"),
    "copysign": Operation("std::copysign({1}, {0})", FLOATS, "T T"),
    "min": Operation("ptx::lesser<{T}>({0}, {1})", FLOATS, "T T"),
    "max": Operation("ptx::greater<{T}>({0}, {1})", FLOATS, "T T"),
    "min.NaN": Operation("ptx::lesser_or_nan<{T}>({0}, {1})", FLOATS, "T T"),
    "max.NaN": Operation("ptx::greater_or_nan<{T}>({0}, {1})", FLOATS, "T T"),
}
_INTEGER_ROWS = {
    "add": Operation("{0} + {1}", INTEGERS, "U U", "U"),
    "sub": Operation("{0} - {1}", INTEGERS, "U U", "U"),
    "mul.lo": Operation("1u * {0} * {1}", INTEGERS, "U U", "U"),
    "mul.hi": Operation("ptx::high_product<{T}>({0}, {1})", INTEGERS, "T T"),
    "mul.wide": Operation("{W}({0}) * {W}({1})", ("u16", "s16", "u32", "s32"), "T T", "W"),
    "mad.lo": Operation("1u * {0} * {1} + {2}", INTEGERS, "U U U", "U"),
    "mad.hi": Operation("{U}(ptx::high_product<{T}>({0}, {1})) + {2}", INTEGERS, "T T U", "U"),
    "mad.wide": Operation(
        "{V}({W}({0}) * {W}({1})) + {2}", ("u16", "s16", "u32", "s32"), "T T V", "V"
    ),
    "div": Operation("ptx::quotient<{T}>({0}, {1})", INTEGERS, "T T"),
    "rem": Operation("ptx::remainder<{T}>({0}, {1})", INTEGERS, "T T"),
    "min": Operation("std::min<{T}>({0}, {1})", INTEGERS, "T T"),
    "max": Operation("std::max<{T}>({0}, {1})", INTEGERS, "T T"),
    "neg": Operation("0u - {0}", SIGNED, "U", "U"),
    "abs": Operation("ptx::magnitude<{T}>({0})", SIGNED, "T", "U"),
    "add.cc": Operation("ptx::sum<{U}>({0}, {1}, false, carry)", BY_32_AND_64, "U U", "U"),
    "addc.cc": Operation("ptx::sum<{U}>({0}, {1}, carry, carry)", BY_32_AND_64, "U U", "U"),
    "addc": Operation("{0} + {1} + carry", BY_32_AND_64, "U U", "U"),
    "sub.cc": Operation("ptx::difference<{U}>({0}, {1}, false, carry)", BY_32_AND_64, "U U", "U"),
    "subc.cc": Operation("ptx::difference<{U}>({0}, {1}, carry, carry)", BY_32_AND_64, "U U", "U"),
    "subc": Operation("{0} - {1} - carry", BY_32_AND_64, "U U", "U"),
}
_BIT_ROWS = {
    "and": Operation("{0} & {1}", (*BITS, "pred"), "T T"),
    "or": Operation("{0} | {1}", (*BITS, "pred"), "T T"),
    "xor": Operation("{0} ^ {1}", (*BITS, "pred"), "T T"),
    "not": Operation("~{0}", BITS, "T"),
    "shl": Operation("ptx::left<{T}>({0}, {1})", BITS, "T u32"),
    "shr": Operation("ptx::right<{T}>({0}, {1})", (*BITS, *INTEGERS), "T u32"),
    "shf.l.wrap": Operation("ptx::funnel_left({0}, {1}, {2} & 31u)", ("b32",), "T T u32"),
    "shf.r.wrap": Operation("ptx::funnel_right({0}, {1}, {2} & 31u)", ("b32",), "T T u32"),
    "shf.l.clamp": Operation("ptx::funnel_left({0}, {1}, {2})", ("b32",), "T T u32"),
    "shf.r.clamp": Operation("ptx::funnel_right({0}, {1}, {2})", ("b32",), "T T u32"),
    "lop3": Operation("ptx::logic({0}, {1}, {2}, {3})", ("b32",), "T T T u32"),
    "prmt": Operation("ptx::permute({0}, {1}, {2})", ("b32",), "T T u32"),
    "bfe": Operation("ptx::extract<{T}>({0}, {1}, {2})", BY_32_AND_64, "T u32 u32"),
    "bfi": Operation("ptx::insert<{T}>({0}, {1}, {2}, {3})", ("b32", "b64"), "T T u32 u32"),
    "popc": Operation("std::popcount({0})", ("b32", "b64"), "T", "u32"),
    "clz": Operation("std::countl_zero({0})", ("b32", "b64"), "T", "u32"),
    "brev": Operation("ptx::reversed<{T}>({0})", ("b32", "b64"), "T"),
    "bfind": Operation("ptx::leading<{T}>({0})", BY_32_AND_64, "T", "u32"),
    "bfind.shiftamt": Operation("ptx::leading_shift<{T}>({0})", BY_32_AND_64, "T", "u32"),
}
_OTHER_ROWS = {
    "not": Operation("!{0}", ("pred",), "T"),
    "selp": Operation("{2} ? {0} : {1}", MOVED, "T T pred", cost=Cost.ALU),
}

OPERATIONS: dict[tuple[str, str], Operation] = {
    (variant, kind): operation
    for rows in (_FLOAT_ROWS, _INTEGER_ROWS, _BIT_ROWS, _OTHER_ROWS)
    for variant, operation in rows.items()
    for kind in operation.types
}
