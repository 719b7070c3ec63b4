"""Branches, calls and ends."""

import operator

from translator.cpp.cpp_code import Code, Cost
from translator.cpp.function_body import FunctionBody
from translator.cpp_names import argument_name, symbol_name
from translator.errors import MalformedPtx
from translator.ptx.instruction import Instruction, split_operands
from translator.ptx.signature import Signature, Space

# Functions of the device runtime: sizes of the arguments, and what of ours they are.
BUILT_INS = {"cudaGraphSetConditional": ((8, 4), "set_condition")}


def branch(instruction: Instruction, body: FunctionBody) -> Code:
    """`bra.uni $L__BB0_4`."""
    instruction.expect_operands(1)
    if instruction.modifiers not in ((), ("uni",)):
        raise instruction.unknown()
    jump = f"goto {body.target(instruction.operands[0])};"
    return Code(jump, ends_block=True, never_continues=True)


def indexed_branch(instruction: Instruction, body: FunctionBody) -> Code:
    """`brx.idx %r1, NAME`, where NAME labels a list of targets."""
    instruction.expect_operands(2)
    index, name = instruction.operands
    if instruction.modifiers not in (("idx",), ("idx", "uni")):
        raise instruction.unknown()
    if name not in body.branch_targets:
        raise MalformedPtx(f"no list of targets: {name}", body.line)
    cases = [
        f"case {i}: goto {body.target(label)};" for i, label in enumerate(body.branch_targets[name])
    ]
    outside = f"default: t.trap({body.site()});"
    lines = f"switch ({body.value(index, 'u32')}) {{ {' '.join(cases)} {outside} }}"
    return Code(lines, ends_block=True, never_continues=True)


def call(instruction: Instruction, body: FunctionBody) -> Code:
    """`call.uni (retval0), NAME, (param0, param1)`; spaces are handed over by address."""
    operands = list(instruction.operands)
    results = _names(operands.pop(0), body) if operands and operands[0][0] == "(" else ()
    name = operands.pop(0) if operands else ""
    arguments = _names(operands.pop(0), body) if operands and operands[0][0] == "(" else ()
    if instruction.modifiers not in ((), ("uni",)) or operands or body.registers.find(name):
        raise instruction.unknown()
    callee = body.module.callee(name)
    if callee is None and name in BUILT_INS and not results:
        return _call_built_in(name, arguments, body)
    if callee is None:
        raise instruction.unknown(f"{name} has no body here")
    _check_spaces(body, arguments, callee.params)
    _check_spaces(body, results, callee.results)
    spaces = ", ".join(["t", *map(argument_name, (*arguments, *results))])
    return Code(f"{symbol_name(name)}({spaces});", ends_block=True)


def leave(instruction: Instruction, body: FunctionBody) -> Code:
    """`ret`."""
    instruction.expect_operands(0)
    if instruction.modifiers not in ((), ("uni",)):
        raise instruction.unknown()
    return Code("return;", ends_block=True, never_continues=True)


def end_thread(instruction: Instruction, body: FunctionBody) -> Code:
    """`exit`, which is `ret` in a kernel; nvcc writes it elsewhere only where nothing arrives."""
    instruction.expect_operands(0)
    if instruction.modifiers:
        raise instruction.unknown()
    if body.signature.is_kernel:
        return Code("return;", ends_block=True, never_continues=True)
    if body.is_reachable:
        raise instruction.unknown("in a function that is no kernel")
    return Code("")


def trap(instruction: Instruction, body: FunctionBody) -> Code:
    """`trap` and `brkpt`: the launch fails."""
    instruction.expect_operands(0)
    if instruction.modifiers:
        raise instruction.unknown()
    return Code(f"t.trap({body.site()});", ends_block=True, never_continues=True)


def signature_in_cpp(signature: Signature) -> str:
    """The head of a function's C++; kernels are called by the machine, as thread.h says."""
    name = symbol_name(signature.name)
    if signature.is_kernel:
        return f"void {name}(Thread& t, const u8* param, u8*)"
    spaces = [f"const u8* {argument_name(space.name)}" for space in signature.params]
    spaces += [f"u8* {argument_name(space.name)}" for space in signature.results]
    return f"void {name}({', '.join(['Thread& t', *spaces])})"


def _call_built_in(name: str, arguments: tuple[str, ...], body: FunctionBody) -> Code:
    sizes, ours = BUILT_INS[name]
    given = [body.arguments.get(argument, 0) for argument in arguments]
    if len(given) != len(sizes) or any(map(operator.lt, given, sizes)):
        raise MalformedPtx("a call with arguments that it does not fit", body.line)
    values = [
        f"get_own<u{8 * size}>(reinterpret_cast<u64>({argument_name(argument)}))"
        for argument, size in zip(arguments, sizes, strict=True)
    ]
    return Code(f"t.{ours}({', '.join(values)}, {body.site()});", Cost.MEMORY, ends_block=True)


def _names(operand: str, body: FunctionBody) -> tuple[str, ...]:
    return split_operands(operand.strip("() "), body.line)


def _check_spaces(body: FunctionBody, given: tuple[str, ...], declared: tuple[Space, ...]) -> None:
    sizes = [body.arguments.get(name) for name in given]
    if None in sizes or len(given) != len(declared):
        raise MalformedPtx("a call with arguments that it does not fit", body.line)
    if any(size < space.bytes for size, space in zip(sizes, declared, strict=True) if size):
        raise MalformedPtx("a call with too small an argument", body.line)
