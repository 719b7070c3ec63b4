"""A function while it is translated: what instructions ask of it and put into it."""

from translator.cpp.cpp_code import Block, Code, Cost
from translator.cpp.program import Program
from translator.cpp_names import argument_name, label_name, symbol_name
from translator.errors import MalformedPtx, UnknownInstruction, UnknownSymbol
from translator.ptx.module import Module
from translator.ptx.operands import SPECIAL_REGISTERS, address_parts, is_number, number
from translator.ptx.ptx_types import SIZES, cpp_type, is_float, is_integer
from translator.ptx.registers import Register, Registers
from translator.ptx.signature import Signature, Space


class FunctionBody:
    """Names, registers and basic blocks of one function."""

    def __init__(self, program: Program, module: Module, signature: Signature) -> None:
        self.program = program
        self.module = module
        self.signature = signature
        self.registers = Registers()
        self.blocks: list[Block] = [Block()]
        self.labels: set[str] = set()
        self.targets: dict[str, int] = {}  # labels to jump to, and the line of the first jump
        self.depots: dict[str, Space] = {}
        self.arguments: dict[str, int] = {}  # of calls: the most bytes that a space needs
        self.branch_targets: dict[str, tuple[str, ...]] = {}
        self.line = 0
        self.guarded = False
        self.is_reachable = True
        self._addresses = _param_addresses(signature)

    def value(self, operand: str, kind: str) -> str:
        """C++ of the type for an operand of the same size."""
        if kind == "pred" and operand.startswith("!"):
            return f"!{self.value(operand[1:], kind)}"
        if is_number(operand):
            return number(operand, kind, self._size(kind), self.line)
        if operand in SPECIAL_REGISTERS:
            return self._special(operand, kind)
        if register := self.registers.find(operand):
            if self._size(register.kind) != self._size(kind):
                raise MalformedPtx(f"{operand} is not of the size of {kind}", self.line)
            return self._read(register, kind)
        if self._size(kind) not in (4, 8):
            raise UnknownSymbol(f"unknown name: {operand}", self.line)
        return f"static_cast<{cpp_type(kind)}>({self.symbol(operand)})"

    def low_value(self, operand: str, kind: str) -> str:
        """As `value`, but the register may be wider: conversions and stores take its low bits."""
        register = self.registers.find(operand)
        if register is None or register.kind == kind or not is_integer(kind):
            return self.value(operand, kind)
        if not is_integer(register.kind) or SIZES[register.kind] == SIZES[kind]:
            return self.value(operand, kind)
        if SIZES[register.kind] < SIZES[kind]:
            raise MalformedPtx(f"{operand} is smaller than {kind}", self.line)
        return f"static_cast<{cpp_type(kind)}>({self._read(register, register.kind)})"

    def assign(self, operand: str, value: str, kind: str) -> str:
        """A C++ statement; wider registers get the value with its sign or zeros before it."""
        if operand == "_":
            return f"static_cast<void>({value});"
        register = self.registers.find(operand)
        if register is None:
            raise MalformedPtx(f"not a register: {operand}", self.line)
        held = register.kind
        if self._size(held) < self._size(kind) or (held == "pred") != (kind == "pred"):
            raise MalformedPtx(f"{operand} cannot hold {kind}", self.line)
        if is_float(held) != is_float(kind) and kind != "pred":
            if SIZES[held] != SIZES[kind]:
                raise MalformedPtx(f"{operand} cannot hold {kind}", self.line)
            value = f"bits<{cpp_type(held)}>(static_cast<{cpp_type(kind)}>({value}))"
        elif SIZES.get(held, 0) > SIZES.get(kind, 0):
            value = f"static_cast<{cpp_type(kind)}>({value})"
        self._touch(register, is_assignment=True)
        return f"@{register.name}@ = {value};"

    def symbol(self, name: str) -> str:
        """C++ for a name's address: of shared memory in its window, else among all memory."""
        if name in self._addresses:
            return self._addresses[name]
        if name in self.depots:
            return f"reinterpret_cast<u64>({symbol_name(name)})"
        if name in self.arguments:
            return f"reinterpret_cast<u64>({argument_name(name)})"
        if name in self.module.shared.offsets:
            return f"{self.module.shared.offsets[name]}ull"
        if name in self.module.variables:
            return f"reinterpret_cast<u64>({self.module.variables[name].name})"
        raise UnknownSymbol(f"unknown name: {name}", self.line)

    def address(self, operand: str) -> str:
        """C++ for what stands in brackets, of the kind that `symbol` gives."""
        base, offset = address_parts(operand, self.line)
        register = self.registers.find(base)
        if register is not None:
            # Shared memory can be addressed with 32 bits.
            base_value = self._read(register, "u32" if SIZES.get(register.kind) == 4 else "u64")
        elif is_number(base):
            base_value = number(base, "u64", 8, self.line)
        else:
            base_value = self.symbol(base)
        if not offset:
            return base_value
        return f"{base_value} {'-' if offset < 0 else '+'} {abs(offset)}"

    def site(self) -> int:
        """The number of the line that is translated now."""
        return self.program.number_of_site(self.module.lines.site)

    def target(self, label: str) -> str:
        """The C++ label to jump to."""
        self.targets.setdefault(label, self.line)
        return label_name(label)

    def put(self, code: Code, guard: str) -> None:
        """Adds an instruction to the basic block."""
        block = self.blocks[-1]
        if block.site is None:
            block.site = self.module.lines.site
        if code.cost is not Cost.MEMORY:
            block.counts[code.cost] += 1
        block.lines.append(f"if ({guard}) {{ {code.text} }}" if guard else code.text)
        if code.ends_block:
            self.blocks.append(Block())
        self.is_reachable = bool(guard) or not code.never_continues

    def define_label(self, label: str) -> None:
        """What comes next can be jumped to."""
        if label in self.labels:
            raise MalformedPtx(f"a label comes twice: {label}", self.line)
        self.labels.add(label)
        self.blocks.append(Block(label))
        self.is_reachable = True

    @property
    def last_label(self) -> str:
        """The label just before, if there is one."""
        return self.blocks[-1].label

    def _special(self, name: str, kind: str) -> str:
        if kind not in ("b32", "u32", "s32", "b64", "u64"):
            raise UnknownInstruction(f"{name} read as {kind}", self.line)
        return f"static_cast<{cpp_type(kind)}>({SPECIAL_REGISTERS[name]})"

    def _read(self, register: Register, kind: str) -> str:
        self._touch(register, is_assignment=False)
        held, wanted = cpp_type(register.kind), cpp_type(kind)
        if held == wanted:
            return register.name
        if is_float(register.kind) or is_float(kind):
            return f"bits<{wanted}>({register.name})"
        return f"static_cast<{wanted}>({register.name})"

    def _touch(self, register: Register, *, is_assignment: bool) -> None:
        if not register.blocks:
            register.begins_with_assignment = is_assignment and not self.guarded
        register.blocks.add(len(self.blocks))

    def _size(self, kind: str) -> int:
        if kind == "pred":
            return 0
        if kind not in SIZES:
            raise UnknownInstruction(f"unknown type: {kind}", self.line)
        return SIZES[kind]


def _param_addresses(signature: Signature) -> dict[str, str]:
    if signature.is_kernel:
        offsets = signature.param_offsets()
        return {
            param.name: f"(reinterpret_cast<u64>(param) + {offsets[param.name]})"
            for param in signature.params
        }
    return {
        space.name: f"reinterpret_cast<u64>({argument_name(space.name)})"
        for space in (*signature.params, *signature.results)
    }
