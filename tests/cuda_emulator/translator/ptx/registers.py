"""A function's registers: their types, their scopes, where in C++ they are declared."""

from dataclasses import dataclass, field

from translator.cpp_names import register_name
from translator.errors import MalformedPtx, UnknownInstruction
from translator.ptx.ptx_types import SIZES, cpp_type


@dataclass
class Register:
    """What is known of a register so far.

    Where all that happens to it happens in one basic block, beginning with an assignment, its C++
    variable is declared there: g++ is then twice as fast as with all at the top.
    """

    name: str  # in C++
    kind: str
    blocks: set[int] = field(default_factory=set)
    begins_with_assignment: bool = False

    @property
    def is_of_one_block(self) -> bool:
        """Whether its first assignment can declare it."""
        return len(self.blocks) == 1 and self.begins_with_assignment


class Registers:
    """Register declarations, with the scopes that braces make."""

    def __init__(self) -> None:
        self.all: dict[str, Register] = {}  # by name in C++
        self._scopes: list[dict[str, Register]] = [{}]

    def open_scope(self) -> None:
        """At an opening brace."""
        self._scopes.append({})

    def close_scope(self) -> None:
        """At a closing brace."""
        self._scopes.pop()

    def find(self, name: str) -> Register | None:
        """The register of that name in the innermost scope that has one."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def declare(self, text: str, line: int) -> None:
        """Reads `.reg .b64 %rd<5>` or `.reg .pred p, q`.

        Raises:
            MalformedPtx: it declares nothing, or what is declared already.
            UnknownInstruction: it is of an unknown type.
        """
        _, _, declaration = text.partition(" ")
        kind, _, names = declaration.partition(" ")
        if kind[1:] not in SIZES and kind != ".pred":
            raise UnknownInstruction(f"unknown type of registers: {text}", line)
        for name in names.split(","):
            self._declare(name.strip(), kind[1:], line)

    def _declare(self, name: str, kind: str, line: int) -> None:
        stem, bracket, count = name.partition("<")
        if bracket and not count.rstrip(">").isdigit():
            raise MalformedPtx(f"not a declaration of registers: {name}", line)
        numbers = [str(i) for i in range(int(count.rstrip(">")))] if bracket else [""]
        for number in numbers:
            if f"{stem}{number}" in self._scopes[-1]:
                raise MalformedPtx(f"declared twice: {stem}{number}", line)
            register = Register(self._free_name(f"{stem}{number}"), kind)
            self._scopes[-1][f"{stem}{number}"] = self.all[register.name] = register

    def _free_name(self, name: str) -> str:
        free, tries = register_name(name), 1
        while free in self.all:
            tries += 1
            free = f"{register_name(name)}{tries}"
        return free

    def declarations(self) -> list[str]:
        """C++ for the registers that outlive a block; what was never written is 0."""
        return [
            f"{cpp_type(register.kind)} {register.name}{{}};"
            for register in self.all.values()
            if register.blocks and not register.is_of_one_block
        ]
