"""`mov` and `cvta`: registers, names, special registers, vectors packed into one register."""

from translator.cpp.cpp_code import Code
from translator.cpp.function_body import FunctionBody
from translator.errors import MalformedPtx
from translator.ptx.instruction import Instruction, members
from translator.ptx.ptx_types import SIZES

# As `mov`'s u64 of a name gives the place in the window of its state space, and all spaces but the
# shared one lie where generic addresses have them.
SPACES = ("global", "local", "const", "param", "shared", "shared::cta")


def move(instruction: Instruction, body: FunctionBody) -> Code:
    """`mov.b64 %rd1, {%r1, %r2}` and simpler ones."""
    instruction.expect_operands(2)
    kind = instruction.type
    if len(instruction.modifiers) != 1 or (kind not in SIZES and kind != "pred"):
        raise instruction.unknown()
    target, source = instruction.operands
    if source.startswith("{"):
        return Code(body.assign(target, _packed(source, kind, body), kind))
    if target.startswith("{"):
        return Code(_unpacked(target, source, kind, body))
    return Code(body.assign(target, body.value(source, kind), kind))


def convert_address(instruction: Instruction, body: FunctionBody) -> Code:
    """`cvta.shared.u64` makes an address generic, `cvta.to.shared.u64` the reverse."""
    instruction.expect_operands(2)
    *words, kind = instruction.modifiers or ("",)
    is_to = words[:1] == ["to"]
    space = ".".join(words[1:] if is_to else words)
    if space not in SPACES or kind != "u64":
        raise instruction.unknown()
    value = body.value(instruction.operands[1], kind)
    if space.startswith("shared"):
        value += f" {'-' if is_to else '+'} reinterpret_cast<u64>(t.shared)"
    return Code(body.assign(instruction.operands[0], value, kind))


def _packed(source: str, kind: str, body: FunctionBody) -> str:
    parts = members(source, body.line)
    part, bits, whole = _part_kind(parts, kind, body.line)
    return " | ".join(
        f"static_cast<{whole}>(static_cast<{whole}>({body.value(name, part)}) << {i * bits})"
        for i, name in enumerate(parts)
    )


def _unpacked(target: str, source: str, kind: str, body: FunctionBody) -> str:
    parts = members(target, body.line)
    part, bits, whole = _part_kind(parts, kind, body.line)
    lines = [f"packed = {body.value(source, whole)};"]  # the source may be among the targets
    lines += [
        body.assign(name, f"static_cast<{part.replace('b', 'u')}>(packed >> {i * bits})", part)
        for i, name in enumerate(parts)
        if name != "_"
    ]
    return " ".join(lines)


def _part_kind(parts: tuple[str, ...], kind: str, line: int) -> tuple[str, int, str]:
    bits = 8 * SIZES.get(kind, 0) // len(parts)
    if len(parts) not in (2, 4) or bits < 8:
        raise MalformedPtx(f"{len(parts)} parts of {kind}", line)
    return f"b{bits}", bits, f"u{bits * len(parts)}"
