"""`cvt` between integers and floating-point numbers of all sizes."""

from translator.cpp.cpp_code import Code, Cost
from translator.cpp.function_body import FunctionBody
from translator.ptx.instruction import Instruction
from translator.ptx.ptx_types import SIZES, cpp_type, is_float, is_integer

TO_WHOLE = {"rni": "std::nearbyint", "rzi": "std::trunc", "rmi": "std::floor", "rpi": "std::ceil"}
TO_FLOAT = {"rn": "NEAREST", "rz": "ZERO", "rm": "DOWN", "rp": "UP"}


def convert(instruction: Instruction, body: FunctionBody) -> Code:
    """`cvt.rzi.s32.f64 %r1, %fd1`."""
    instruction.expect_operands(2)
    *words, to, source = ("", "", *instruction.modifiers)
    if to not in SIZES or source not in SIZES or to.startswith("b") or source.startswith("b"):
        raise instruction.unknown()
    rounding = [word for word in words if word in TO_WHOLE or word in TO_FLOAT]
    others = [word for word in words if word and word not in rounding]
    if len(rounding) > 1 or others not in ([], ["sat"]):
        raise instruction.unknown()
    value = body.low_value(instruction.operands[1], source)
    value = _rounded(instruction, value, to, source, "".join(rounding))
    if others:
        value = _saturated(instruction, value, to, source)
    elif is_integer(to) and is_integer(source):
        value = f"static_cast<{cpp_type(to)}>({value})"
    cost = Cost.DOUBLE if "f64" in (to, source) else Cost.ALU
    return Code(body.assign(instruction.operands[0], value, to), cost)


def _rounded(instruction: Instruction, value: str, to: str, source: str, rounding: str) -> str:
    if is_float(source) and rounding in TO_WHOLE and (is_integer(to) or to == source):
        whole = f"{TO_WHOLE[rounding]}({value})"
        return f"ptx::to_integer<{to}, {source}>({whole})" if is_integer(to) else whole
    narrows = is_float(to) and (is_integer(source) or (source == "f64" and to == "f32"))
    if narrows and rounding in TO_FLOAT:
        return f"ptx::to_float<{to}, ptx::Rounding::{TO_FLOAT[rounding]}>({value})"
    is_exact = is_integer(to) == is_integer(source) and SIZES[to] >= SIZES[source]
    if rounding or (is_float(to) and not is_exact) or is_integer(to) != is_integer(source):
        raise instruction.unknown()
    return f"static_cast<{to}>({value})" if is_float(to) else value


def _saturated(instruction: Instruction, value: str, to: str, source: str) -> str:
    if is_float(to) and is_float(source):
        return f"ptx::to_unit<{to}>({value})"
    if is_integer(to) and is_integer(source):
        return f"ptx::to_nearest<{to}>({value})"
    if is_integer(to):
        return value  # which these conversions do anyway
    raise instruction.unknown()
