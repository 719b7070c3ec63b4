"""`setp` and `set`: comparisons, and their combination with a predicate."""

from translator.cpp.cpp_code import Code, Cost
from translator.cpp.function_body import FunctionBody
from translator.ptx.instruction import Instruction
from translator.ptx.ptx_types import BITS, INTEGERS, is_float

SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNSIGNED_SIGNS = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
# With a NaN the first six are false, the others true but `num`.
FLOAT_COMPARISONS = {
    "eq": "{a} == {b}",
    "ne": "{a} < {b} || {a} > {b}",
    "lt": "{a} < {b}",
    "le": "{a} <= {b}",
    "gt": "{a} > {b}",
    "ge": "{a} >= {b}",
    "equ": "!({a} < {b} || {a} > {b})",
    "neu": "{a} != {b}",
    "ltu": "!({a} >= {b})",
    "leu": "!({a} > {b})",
    "gtu": "!({a} <= {b})",
    "geu": "!({a} < {b})",
    "num": "{a} == {a} && {b} == {b}",
    "nan": "{a} != {a} || {b} != {b}",
}
COMBINATIONS = {"and": "&", "or": "|", "xor": "^"}


def set_predicate(instruction: Instruction, body: FunctionBody) -> Code:
    """`setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3`; the second gets the opposite comparison."""
    comparison, *rest = instruction.modifiers or ("",)
    condition, other = _condition(instruction, body, comparison, rest[:-1])
    first, _, second = instruction.operands[0].partition("|")
    if not second:
        return Code(body.assign(first, _combined(condition, other), "pred"), _cost(instruction))
    lines = [
        # The targets may be among the operands.
        f"met = {condition};",
        f"opposite = {_combined('!met', other)};",
        body.assign(first, _combined("met", other), "pred"),
        body.assign(second, "opposite", "pred"),
    ]
    return Code(" ".join(lines), _cost(instruction))


def set_value(instruction: Instruction, body: FunctionBody) -> Code:
    """`set.lt.u32.s32 %r1, %r2, %r3`: all ones, or 1.0, or 0."""
    comparison, *rest = instruction.modifiers or ("",)
    result = rest[-2] if len(rest) > 1 else ""
    if result not in ("u32", "s32", "f32"):
        raise instruction.unknown()
    condition = _combined(*_condition(instruction, body, comparison, rest[:-2]))
    true = "1.0f" if result == "f32" else f"{result}(~0u)"
    value = f"({condition}) ? {true} : {result}(0)"
    return Code(body.assign(instruction.operands[0], value, result), _cost(instruction))


def _condition(
    instruction: Instruction, body: FunctionBody, comparison: str, combination: list[str]
) -> tuple[str, str]:
    """The comparison, and what it is combined with, with the operator before it."""
    kind = instruction.type
    instruction.expect_operands(4 if combination else 3)
    if len(combination) > 1 or not set(combination) <= set(COMBINATIONS):
        raise instruction.unknown()
    a, b = (body.value(operand, kind) for operand in instruction.operands[1:3])
    condition = _comparison(instruction, comparison, kind).format(a=a, b=b)
    if not combination:
        return condition, ""
    predicate = body.value(instruction.operands[3], "pred")
    return condition, f" {COMBINATIONS[combination[0]]} {predicate}"


def _combined(condition: str, other: str) -> str:
    return f"({condition}){other}" if other else condition


def _comparison(instruction: Instruction, comparison: str, kind: str) -> str:
    if is_float(kind) and comparison in FLOAT_COMPARISONS:
        return FLOAT_COMPARISONS[comparison]
    signs = SIGNS | (UNSIGNED_SIGNS if kind.startswith("u") else {})
    is_for_bits = kind in INTEGERS or (kind in BITS and comparison in ("eq", "ne"))
    if not is_for_bits or comparison not in signs:
        raise instruction.unknown()
    return f"{{a}} {signs[comparison]} {{b}}"


def _cost(instruction: Instruction) -> Cost:
    return Cost.DOUBLE if instruction.type == "f64" else Cost.ALU
