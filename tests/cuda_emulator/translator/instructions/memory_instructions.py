"""Loads, stores, atomics, fences and barriers."""

from collections.abc import Container
from dataclasses import dataclass

from translator.cpp.cpp_code import Code, Cost
from translator.cpp.function_body import FunctionBody
from translator.ptx.instruction import Instruction, members
from translator.ptx.operands import address_parts
from translator.ptx.ptx_types import SIZES, cpp_type

LOAD_ORDERS = {"weak": "WEAK", "relaxed": "RELAXED", "acquire": "ACQUIRE", "volatile": "RELAXED"}
STORE_ORDERS = {"weak": "WEAK", "relaxed": "RELAXED", "release": "RELEASE", "volatile": "RELAXED"}
ATOMIC_ORDERS = {
    "relaxed": "RELAXED",
    "acquire": "ACQUIRE",
    "release": "RELEASE",
    "acq_rel": "BOTH",
}
SCOPES = ("cta", "gpu", "sys")
SPACES = ("global", "shared", "shared::cta", "local", "const", "param")
VECTORS = {"v2": 2, "v4": 4}
# About caches: no difference to what is read or written.
HINTS = {"nc", "ca", "cg", "cs", "lu", "wb", "L1::no_allocate", "L1::evict_normal"} | {
    *("L1::evict_first", "L1::evict_last", "L1::evict_unchanged"),
    *("L2::64B", "L2::128B", "L2::256B"),
}
ATOMIC_TYPES = {
    "add": ("u32", "s32", "u64", "s64"),
    "min": ("u32", "s32", "u64", "s64"),
    "max": ("u32", "s32", "u64", "s64"),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
    "exch": ("b32", "b64"),
    "cas": ("b32", "b64"),
}
FENCES = {
    *("membar.cta", "membar.gl", "membar.sys"),
    *(f"fence.{scope}" for scope in SCOPES),
    *(f"fence.{order}.{scope}" for order in ("sc", "acq_rel") for scope in SCOPES),
}
BARRIERS = {
    f"{name}{cta}.{sync}"
    for name, sync in (("bar", "sync"), ("barrier", "sync"), ("barrier", "sync.aligned"))
    for cta in ("", ".cta")
}


@dataclass(frozen=True)
class _Access:
    """What the modifiers say of a load, a store or an atomic."""

    order: str
    space: str
    elements: int
    others: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """Whether no other thread can see it."""
        return self.space in ("local", "param")

    @property
    def cost(self) -> Cost:
        return {"local": Cost.LOCAL, "param": Cost.ALU}.get(self.space, Cost.MEMORY)

    def place(self, body: FunctionBody, operand: str) -> str:
        """C++ that keeps the address: the target may be the register that it comes from."""
        window = " + reinterpret_cast<u64>(t.shared)" if self.space.startswith("shared") else ""
        return f"at = {body.address(operand)}{window};"


def load(instruction: Instruction, body: FunctionBody) -> Code:
    """`ld.global.v2.u32 {%r1, %r2}, [%rd1+8]`."""
    instruction.expect_operands(2)
    access = _access(instruction, LOAD_ORDERS, "WEAK")
    targets = members(instruction.operands[0], body.line)
    lines = _begin(instruction, body, access, instruction.operands[1], "reads", len(targets))
    kind, held = instruction.type, cpp_type(instruction.type)
    order = "" if access.is_own else f", Order::{access.order}"
    get = f"get_own<{held}>" if access.is_own else f"t.get<{held}>"
    lines += [
        body.assign(target, f"{get}(at + {i * SIZES[kind]}{order})", kind)
        for i, target in enumerate(targets)
        if target != "_"
    ]
    return Code(" ".join(lines), access.cost)


def store(instruction: Instruction, body: FunctionBody) -> Code:
    """`st.global.v2.u32 [%rd1+8], {%r1, %r2}`."""
    instruction.expect_operands(2)
    access = _access(instruction, STORE_ORDERS, "WEAK")
    sources = members(instruction.operands[1], body.line)
    if access.space == "const" or "nc" in instruction.modifiers:
        raise instruction.unknown()
    lines = _begin(instruction, body, access, instruction.operands[0], "writes", len(sources))
    kind, held = instruction.type, cpp_type(instruction.type)
    order = "" if access.is_own else f", Order::{access.order}"
    put = f"put_own<{held}>" if access.is_own else f"t.put<{held}>"
    lines += [
        f"{put}(at + {i * SIZES[kind]}, {body.low_value(source, kind)}{order});"
        for i, source in enumerate(sources)
    ]
    return Code(" ".join(lines), access.cost)


def atomic(instruction: Instruction, body: FunctionBody) -> Code:
    """`atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3`."""
    target, *operands = instruction.operands or ("",)
    return _update(instruction, body, target, operands)


def reduction(instruction: Instruction, body: FunctionBody) -> Code:
    """`red.global.add.u32 [%rd1], %r1`: an atomic whose result nobody wants."""
    return _update(instruction, body, "_", list(instruction.operands))


def fence(instruction: Instruction, body: FunctionBody) -> Code:
    """`membar.cta`, `fence.acq_rel.gpu` and the like."""
    instruction.expect_operands(0)
    if ".".join((instruction.name, *instruction.modifiers)) not in FENCES:
        raise instruction.unknown()
    order = "BLOCK_BOTH" if instruction.modifiers[-1] == "cta" else "BOTH"
    return Code(f"t.fence(Order::{order});", Cost.MEMORY)


def barrier(instruction: Instruction, body: FunctionBody) -> Code:
    """`bar.sync 0`; a block's other barriers, and those of some of its threads, are unknown."""
    is_known = ".".join((instruction.name, *instruction.modifiers)) in BARRIERS
    if not is_known or instruction.operands not in ((), ("0",)):
        raise instruction.unknown()
    return Code(f"t.barrier({body.site()});", Cost.MEMORY, ends_block=True)


def prefetch(instruction: Instruction, body: FunctionBody) -> Code:
    """A hint; the address need not even be one."""
    instruction.expect_operands(1)
    address_parts(instruction.operands[0], body.line)
    return Code("")


def _access(instruction: Instruction, orders: dict[str, str], default: str) -> _Access:
    """The modifiers by what they are: libraries write them in another order than nvcc."""
    groups: dict[str, Container[str]] = {
        "order": orders,
        "scope": SCOPES,
        "space": SPACES,
        "vector": VECTORS,
    }
    found: dict[str, str] = {}
    others = []
    for word in instruction.modifiers[:-1]:
        group = next((name for name, words in groups.items() if word in words), "")
        if not group:
            others.append(word)
        elif found.setdefault(group, word) != word:
            raise instruction.unknown("two of a kind")
    order = found.get("order", "")
    # Atomics can leave out either.
    needs_scope = order not in ("", "weak", "volatile")
    if orders is not ATOMIC_ORDERS and ("scope" in found) != needs_scope:
        raise instruction.unknown("an order without a scope, or the reverse")
    elements = VECTORS.get(found.get("vector", ""), 1)
    strength = orders.get(order, default)
    if found.get("scope") == "cta":
        strength = f"BLOCK_{strength}"
    return _Access(strength, found.get("space", ""), elements, tuple(others))


def _begin(
    instruction: Instruction,
    body: FunctionBody,
    access: _Access,
    place: str,
    announce: str,
    members_given: int,
) -> list[str]:
    """Finds the place and announces the whole access, where others can see it."""
    if not set(access.others) <= HINTS or instruction.type not in SIZES:
        raise instruction.unknown()
    if members_given != access.elements:
        raise instruction.unknown("not as many members as the vector has")
    lines = [access.place(body, place)]
    if not access.is_own:
        size = SIZES[instruction.type] * access.elements
        lines.append(f"t.{announce}(at, {size}, {body.site()}, Order::{access.order});")
    return lines


def _update(instruction: Instruction, body: FunctionBody, target: str, operands: list[str]) -> Code:
    access = _access(instruction, ATOMIC_ORDERS, "RELAXED")
    kind = instruction.type
    operation = access.others[0] if len(access.others) == 1 else ""
    if kind not in ATOMIC_TYPES.get(operation, ()) or access.is_own or access.space == "const":
        raise instruction.unknown()
    if access.elements != 1 or len(operands) != (3 if operation == "cas" else 2):
        raise instruction.unknown("wrong number of operands")
    place = access.place(body, operands[0])
    values = ", ".join(body.value(operand, kind) for operand in operands[1:])
    held = cpp_type(kind)
    update = f"t.update<{held}, Atomic::{operation.upper()}>"
    result = f"{update}(at, {body.site()}, Order::{access.order}, {values})"
    return Code(f"{place} {body.assign(target, result, kind)}", Cost.MEMORY)
