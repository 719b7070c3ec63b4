"""The C++ files that a program becomes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from translator.cpp.program import KernelEntry, Program, VariableEntry
from translator.cpp_names import symbol_name
from translator.errors import TranslationError
from translator.function_writer import write_function
from translator.instructions.control_flow import signature_in_cpp
from translator.ptx.module import Module, parse_module

INCLUDES = '#include "machine/thread.h"\n#include "translator/arithmetic.h"\n'


def translate_files(sources: Sequence[Path], pieces: int) -> dict[str, str]:
    """C++ texts by the ends of their names: one or more for each PTX file, one for the tables.

    Args:
        sources: PTX files as nvcc writes them.
        pieces: among how many C++ files the functions of one are dealt out.

    Raises:
        TranslationError: something in one of them is malformed or unknown; says where.
    """
    program = Program()
    texts: dict[str, str] = {}
    for number, source in enumerate(sources):
        try:
            files = _Unit(program, parse_module(source.read_text()), f"unit_{number}").files(pieces)
        except TranslationError as error:
            error.file = str(source)
            raise
        for piece, text in enumerate(files):
            texts[f"{source.stem}.{piece}"] = text
    return texts | {"tables": _tables(program)}


class _Unit:
    """A PTX file, in a namespace of its own."""

    def __init__(self, program: Program, module: Module, namespace: str) -> None:
        self._program = program
        self._module = module
        self._namespace = namespace

    def files(self, pieces: int) -> list[str]:
        """The variables are defined in the first one."""
        functions = [
            "\n".join(write_function(self._program, self._module, function))
            for function in self._module.functions
        ]
        self._list_entries()
        dealt: list[list[str]] = [[] for _ in range(pieces)]
        for text in sorted(functions, key=len, reverse=True):
            min(dealt, key=lambda texts: sum(map(len, texts))).append(text)
        variables = [variable.definition() for variable in self._module.variables.values()]
        return [
            self._file([*(variables if i == 0 else []), *texts]) for i, texts in enumerate(dealt)
        ]

    def _file(self, definitions: Iterable[str]) -> str:
        head = f"{INCLUDES}\nnamespace emulator::{self._namespace} {{"
        return "\n".join([head, *self._declarations(), *definitions, "}\n"])

    def _declarations(self) -> list[str]:
        variables = [
            f"extern {variable.declaration()};" for variable in self._module.variables.values()
        ]
        functions = [
            f"{signature_in_cpp(function.signature)};" for function in self._module.functions
        ]
        return variables + functions

    def _list_entries(self) -> None:
        for function in self._module.functions:
            signature = function.signature
            if signature.is_kernel:
                name = f"{self._namespace}::{symbol_name(signature.name)}"
                size = signature.param_offsets()[""]
                shared_bytes, params = self._module.shared_bytes, len(signature.params)
                entry = KernelEntry(signature.name, name, size, shared_bytes, params)
                self._program.kernels.append(entry)
                self._declare_for_tables(signature_in_cpp(signature))
        for variable in self._module.variables.values():
            name = f"{self._namespace}::{variable.name}"
            size = variable.space.bytes
            entry_of = VariableEntry(variable.space.name, name, size, variable.is_constant)
            self._program.variables.append(entry_of)
            self._declare_for_tables(f"extern {variable.declaration()}")

    def _declare_for_tables(self, declaration: str) -> None:
        self._program.declarations.append(f"namespace {self._namespace} {{ {declaration}; }}")


def _tables(program: Program) -> str:
    sites = [f'{{"{site.file}", {site.line}}}' for site in program.sites]
    blocks = [
        f'{{{{{", ".join(map(str, counts))}}}, {{"{site.file}", {site.line}}}}}'
        for site, counts in program.code_blocks
    ]
    kernels = [
        f'{{"{kernel.name}", {kernel.function}, {kernel.param_bytes}, {kernel.shared_bytes}, '
        f"{kernel.params}}}"
        for kernel in program.kernels
    ]
    variables = [
        f'{{"{entry.name}", {entry.object}, {entry.bytes}, {str(entry.is_constant).lower()}}}'
        for entry in program.variables
    ]
    return "\n".join(
        [
            INCLUDES,
            "namespace emulator {",
            *program.declarations,
            *_table("Site", "sites", [*sites, "{nullptr, 0}"]),
            *_table("CodeBlock", "code_blocks", [*blocks, "{}"]),
            f"const int num_code_blocks = {len(blocks)};",
            *_table("Kernel", "kernels", [*kernels, "{}"]),
            *_table("Variable", "variables", [*variables, "{}"]),
            "}\n",
        ]
    )


def _table(kind: str, name: str, rows: list[str]) -> list[str]:
    return [f"const {kind} {name}[] = {{", *(f"{row}," for row in rows), "};"]
