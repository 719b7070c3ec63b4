"""Pieces of C++ on their way from an instruction to a function's text."""

import enum
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from translator.cpp_names import label_name
from translator.ptx.line_table import Site
from translator.ptx.ptx_types import cpp_type
from translator.ptx.registers import Register

ASSIGNED = re.compile(r"@(\w+)@")


class Cost(enum.IntEnum):
    """What an instruction costs, as in thread.h; memory is counted where it is accessed."""

    ALU = 0
    DOUBLE = 1
    LOCAL = 2
    MEMORY = 3


@dataclass(frozen=True)
class Code:
    """What an instruction becomes; registers that it assigns to stand between `@`."""

    text: str
    cost: Cost = Cost.ALU
    ends_block: bool = False
    never_continues: bool = False


@dataclass
class Block:
    """A basic block: is entered at its top and left at its end."""

    label: str = ""
    number: int = -1  # among all blocks with instructions; -1 has none
    site: Site | None = None
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    lines: list[str] = field(default_factory=list)

    def text(self, registers: Mapping[str, Register], targets: Container[str]) -> list[str]:
        """Its lines of C++, with the declarations of the registers that are its own."""
        declared: set[str] = set()

        def assigned(match: re.Match[str]) -> str:
            register = registers[match[1]]
            if not register.is_of_one_block or register.name in declared:
                return register.name
            declared.add(register.name)
            return f"{cpp_type(register.kind)} {register.name}"

        lines = [f"{label_name(self.label)}:;"] if self.label in targets else []
        if self.lines:
            enters = [f"t.enters({self.number});"] if any(self.counts) else []
            lines += ["{", *enters, *(ASSIGNED.sub(assigned, line) for line in self.lines), "}"]
        return lines
