"""One instruction of PTX: its guard, its opcode, what modifies it and its operands."""

import re
from dataclasses import dataclass

from translator.errors import MalformedPtx, UnknownInstruction
from translator.ptx.ptx_source import Statement

FORM = re.compile(r"(?:@(!?)([\w$%]+) )?([a-z][\w.:]*)(?: (.*))?$")


@dataclass(frozen=True)
class Instruction:
    """`@!%p1 mul.wide.s32 %rd1, %r1, 4` has the guard `!%p1` and modifiers `wide`, `s32`."""

    statement: Statement
    guard: str
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def type(self) -> str:
        """The last modifier, in most instructions the type of the operands."""
        return self.modifiers[-1] if self.modifiers else ""

    @property
    def variant(self) -> str:
        """The opcode without the type."""
        return ".".join((self.name, *self.modifiers[:-1]))

    def expect_operands(self, *counts: int) -> None:
        """Raises MalformedPtx for any other number of operands."""
        if len(self.operands) not in counts:
            raise MalformedPtx(f"wrong number of operands: {self.statement.text}", self.line)

    def unknown(self, why: str = "") -> UnknownInstruction:
        """The error to raise where nothing of ours translates it."""
        reason = f" ({why})" if why else ""
        return UnknownInstruction(f"unknown instruction{reason}: {self.statement.text}", self.line)

    @property
    def line(self) -> int:
        """In the PTX file."""
        return self.statement.line


def parse_instruction(statement: Statement) -> Instruction:
    """Takes a statement apart.

    Raises:
        MalformedPtx: it has not the form of an instruction.
    """
    form = FORM.match(statement.text)
    if form is None:
        raise MalformedPtx(f"not an instruction: {statement.text}", statement.line)
    guard = f"{form[1]}{form[2]}" if form[2] else ""
    name, *modifiers = form[3].split(".")
    operands = split_operands(form[4] or "", statement.line)
    return Instruction(statement, guard, name, tuple(modifiers), operands)


def split_operands(text: str, line: int) -> tuple[str, ...]:
    """At commas, but not at those in brackets."""
    if not text:
        return ()
    operands, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            operands.append("")
        else:
            operands[-1] += character
    stripped = tuple(operand.strip() for operand in operands)
    if depth or not all(stripped):
        raise MalformedPtx(f"operands that make no list: {text}", line)
    return stripped


def members(operand: str, line: int) -> tuple[str, ...]:
    """Of `{%r1, %r2}` both; of anything else itself."""
    if operand.startswith("{") and operand.endswith("}"):
        return split_operands(operand[1:-1].strip(), line)
    return (operand,)
