"""A PTX file: its functions and variables."""

from dataclasses import dataclass, field

from translator.errors import MalformedPtx, UnknownInstruction
from translator.ptx.line_table import LineTable
from translator.ptx.ptx_source import FUNCTION_HEADER, Statement, statements
from translator.ptx.signature import Function, Signature, parse_signature
from translator.ptx.variables import (
    DeviceVariable,
    SharedLayout,
    is_variable,
    parse_device_variable,
    parse_shared_variable,
)

IGNORED = (".version", ".target", ".address_size", ".file")


@dataclass
class Module:
    """What a PTX file declares."""

    lines: LineTable
    functions: list[Function] = field(default_factory=list)
    variables: dict[str, DeviceVariable] = field(default_factory=dict)
    shared: SharedLayout = field(default_factory=SharedLayout)
    shared_bytes: int = 0

    def callee(self, name: str) -> Signature | None:
        """The function of that name, if it has a body."""
        for function in self.functions:
            if function.signature.name == name:
                return function.signature
        return None


def parse_module(text: str) -> Module:
    """Reads a whole PTX file; instructions are not looked at yet.

    Raises:
        TranslationError: something in it is malformed or unknown; says where.
    """
    source = statements(text)
    reader = _Reader(Module(LineTable(source)))
    for statement in source:
        reader.read(statement)
    return reader.end()


class _Reader:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._function: Function | None = None
        self._depth = 0

    def read(self, statement: Statement) -> None:
        if self._depth:
            self._read_in_body(statement)
        elif statement.text == "}":
            raise MalformedPtx("a brace that nothing opened", statement.line)
        elif statement.text == "{":
            self._open_body(statement)
        else:
            self._read_top_level(statement)

    def end(self) -> Module:
        if self._depth and self._function is not None:
            name = self._function.signature.name
            raise MalformedPtx(f"a body without an end: {name}", self._function.statement.line)
        self._module.shared_bytes = self._module.shared.close()
        return self._module

    def _read_top_level(self, statement: Statement) -> None:
        if is_variable(statement):
            self._declare(statement)
        elif FUNCTION_HEADER.search(statement.text):
            self._function = Function(parse_signature(statement), statement)
        elif not statement.text.startswith(IGNORED):
            raise UnknownInstruction(f"unknown directive: {statement.text}", statement.line)

    def _open_body(self, statement: Statement) -> None:
        if self._function is None:
            raise MalformedPtx("a body without a function", statement.line)
        self._module.functions.append(self._function)
        self._depth = 1

    def _read_in_body(self, statement: Statement) -> None:
        self._depth += (statement.text == "{") - (statement.text == "}")
        if is_variable(statement):
            self._declare(statement)
        elif self._depth and self._function is not None:
            self._function.body.append(statement)
        else:
            self._function = None

    def _declare(self, statement: Statement) -> None:
        if ".shared " in statement.text:
            self._module.shared.add(parse_shared_variable(statement))
        elif not statement.text.startswith(".extern "):  # else whoever uses it is told
            variable = parse_device_variable(statement)
            self._module.variables[variable.space.name] = variable
