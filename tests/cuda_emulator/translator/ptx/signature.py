"""What a function of PTX is called, takes and returns."""

import re
from dataclasses import dataclass, field

from translator.errors import MalformedPtx, UnknownInstruction
from translator.ptx.instruction import split_operands
from translator.ptx.ptx_source import Statement
from translator.ptx.ptx_types import SIZES

HEADER = re.compile(
    r"(?:\.(?:visible|weak|extern) )*\.(?P<kind>entry|func) ?(?:\((?P<results>[^)]*)\) ?)?"
    r"(?P<name>[\w$]+) ?(?:\((?P<params>[^)]*)\))?(?P<rest>.*)$"
)
# About performance, or about what does not return.
HARMLESS = re.compile(r"\.(?:maxntid|reqntid|minnctapersm|maxnreg|noreturn)\b[^.]*")
ARRAY = re.compile(r"([\w$%]+)((?:\[\d*\])*)$")


@dataclass(frozen=True)
class Space:
    """A declared piece of memory: a parameter, a result, a variable."""

    name: str
    kind: str
    elements: int  # 0 for an array without a size
    alignment: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return SIZES[self.kind] * self.elements


@dataclass(frozen=True)
class Signature:
    """A function's header."""

    name: str
    is_kernel: bool
    params: tuple[Space, ...]
    results: tuple[Space, ...]

    def param_offsets(self) -> dict[str, int]:
        """Where a kernel's parameters lie, and at "" where they end."""
        offsets, end = {}, 0
        for param in self.params:
            offsets[param.name] = end = -(-end // param.alignment) * param.alignment
            end += param.bytes
        return offsets | {"": end}


@dataclass
class Function:
    """A function with the statements between its braces."""

    signature: Signature
    statement: Statement
    body: list[Statement] = field(default_factory=list)


def parse_signature(statement: Statement) -> Signature:
    """Reads `.entry NAME(.param .u64 NAME_param_0)`.

    Raises:
        MalformedPtx: it is no header.
        UnknownInstruction: it asks for something that we do not know.
    """
    header = HEADER.match(statement.text)
    if header is None:
        raise MalformedPtx(f"not a function: {statement.text}", statement.line)
    if HARMLESS.sub("", header["rest"]).strip():
        raise UnknownInstruction(f"unknown directive: {header['rest']}", statement.line)
    return Signature(
        header["name"],
        header["kind"] == "entry",
        _spaces(header["params"], statement.line),
        _spaces(header["results"], statement.line),
    )


def parse_space(text: str, line: int) -> Space:
    """Reads `.param .align 8 .b8 NAME[104]` and its like, of any state space.

    Raises:
        MalformedPtx: it declares nothing.
        UnknownInstruction: it declares something of an unknown type or kind.
    """
    alignment = 0
    if match := re.search(r"\.align (\d+) ", text):
        alignment = int(match[1])
        text = text.replace(match[0], "")
    *words, declared = text.split(" ")
    # A kernel's pointers say `.u64 .ptr .global .align 1`, of what they point at.
    kinds = [word[1:] for word in words if word[1:] in SIZES]
    others = {word for word in words if word[1:] not in SIZES}
    if others - {".param", ".ptr", ".global", ".shared", ".const", ".local"} or len(kinds) != 1:
        raise UnknownInstruction(f"unknown declaration: {text}", line)
    array = ARRAY.match(declared)
    if array is None:
        raise MalformedPtx(f"not a declaration: {text}", line)
    elements = 1
    for size in re.findall(r"\[(\d*)\]", array[2]):
        elements *= int(size or 0)
    own = SIZES[kinds[0]]
    return Space(array[1], kinds[0], elements, own if ".ptr" in others else max(alignment, own))


def _spaces(text: str | None, line: int) -> tuple[Space, ...]:
    return tuple(parse_space(part, line) for part in split_operands((text or "").strip(), line))
