"""A whole function as C++."""

from translator.cpp.function_body import FunctionBody
from translator.cpp.program import Program
from translator.cpp_names import argument_name, symbol_name
from translator.errors import MalformedPtx, UnknownInstruction
from translator.instructions.control_flow import signature_in_cpp
from translator.instructions.opcodes import translate_instruction
from translator.ptx.instruction import parse_instruction, split_operands
from translator.ptx.module import Module
from translator.ptx.ptx_source import Statement
from translator.ptx.signature import Function, parse_space

# What instructions use between themselves.
TEMPORARIES = ("u64 at;", "u64 packed;", "bool met;", "bool opposite;", "bool carry = false;")


def write_function(program: Program, module: Module, function: Function) -> list[str]:
    """Lines of C++.

    Raises:
        TranslationError: something in it is malformed or unknown; says where.
    """
    body = FunctionBody(program, module, function.signature)
    for statement in function.body:
        body.line = statement.line
        _translate(body, statement)
    for label, line in body.targets.items():
        if label not in body.labels:
            raise MalformedPtx(f"no such label: {label}", line)
    return [f"{signature_in_cpp(function.signature)} {{", *_declarations(body), *_blocks(body), "}"]


def _translate(body: FunctionBody, statement: Statement) -> None:
    text = statement.text
    if text == "{":
        body.registers.open_scope()
    elif text == "}":
        body.registers.close_scope()
    elif text.endswith(":"):
        body.define_label(text[:-1])
    elif text.startswith("."):
        _direct(body, statement)
    else:
        _instruct(body, statement)


def _direct(body: FunctionBody, statement: Statement) -> None:
    text = statement.text
    match statement.first_word:
        case ".loc":
            body.module.lines.locate(statement)
        case ".reg":
            body.registers.declare(text, statement.line)
        case ".local":
            depot = parse_space(text, statement.line)
            body.depots[depot.name] = depot
        case ".param":
            space = parse_space(text, statement.line)
            body.arguments[space.name] = max(space.bytes, body.arguments.get(space.name, 0))
        case ".branchtargets":
            targets = split_operands(text.partition(" ")[2], statement.line)
            body.branch_targets[body.last_label] = targets
        case ".pragma":
            pass  # about the unrolling of loops
        case _:
            raise UnknownInstruction(f"unknown directive: {text}", statement.line)


def _instruct(body: FunctionBody, statement: Statement) -> None:
    instruction = parse_instruction(statement)
    body.guarded = bool(instruction.guard)
    guard = body.value(instruction.guard, "pred") if instruction.guard else ""
    body.put(translate_instruction(instruction, body), guard)


def _declarations(body: FunctionBody) -> list[str]:
    depots = [
        f"alignas({depot.alignment}) u8 {symbol_name(name)}[{depot.bytes}]; "
        f"std::memset({symbol_name(name)}, 0xA5, {depot.bytes});"
        for name, depot in body.depots.items()
    ]
    arguments = [
        f"alignas(16) u8 {argument_name(name)}[{size}];" for name, size in body.arguments.items()
    ]
    return [*TEMPORARIES, *body.registers.declarations(), *depots, *arguments]


def _blocks(body: FunctionBody) -> list[str]:
    lines: list[str] = []
    for block in body.blocks:
        if block.site is not None and any(block.counts):
            block.number = body.program.number_of_block(block.site, tuple(block.counts))
        lines += block.text(body.registers.all, body.targets)
    return lines
