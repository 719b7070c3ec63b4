"""Which function of ours translates which opcode."""

from collections.abc import Callable

from translator.cpp.cpp_code import Code
from translator.cpp.function_body import FunctionBody
from translator.instructions import (
    comparisons,
    control_flow,
    conversions,
    memory_instructions,
    moves,
)
from translator.instructions.arithmetic import OPERATIONS
from translator.ptx.instruction import Instruction

Translation = Callable[[Instruction, FunctionBody], Code]

TRANSLATIONS: dict[str, Translation] = {
    "ld": memory_instructions.load,
    "ldu": memory_instructions.load,
    "st": memory_instructions.store,
    "atom": memory_instructions.atomic,
    "red": memory_instructions.reduction,
    "membar": memory_instructions.fence,
    "fence": memory_instructions.fence,
    "bar": memory_instructions.barrier,
    "barrier": memory_instructions.barrier,
    "prefetch": memory_instructions.prefetch,
    "prefetchu": memory_instructions.prefetch,
    "mov": moves.move,
    "cvta": moves.convert_address,
    "cvt": conversions.convert,
    "setp": comparisons.set_predicate,
    "set": comparisons.set_value,
    "bra": control_flow.branch,
    "brx": control_flow.indexed_branch,
    "call": control_flow.call,
    "ret": control_flow.leave,
    "exit": control_flow.end_thread,
    "trap": control_flow.trap,
    "brkpt": control_flow.trap,
}


def translate_instruction(instruction: Instruction, body: FunctionBody) -> Code:
    """C++ for one instruction, without its guard.

    Raises:
        TranslationError: it is malformed, or beyond us.
    """
    if operation := OPERATIONS.get((instruction.variant, instruction.type)):
        return operation.apply(instruction, body)
    if translation := TRANSLATIONS.get(instruction.name):
        return translation(instruction, body)
    raise instruction.unknown()
