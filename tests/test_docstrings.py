"""Docstrings say a noun first: what a function returns, or what it does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("service", "streaming", "training", "language", "models", "decoder_kernels")
NOUNLESS = re.compile(r"(Of|Those|As|Such|Both)\b|What\b(?! (an?|the|each|every|one|this|these)\b)")
"""Openings that leave a reader to guess the noun: "Of both.", "As found.", "What is left"."""
STILL_TO_DO = 19
"""How many product docstrings still begin so. Lower it with each that is rewritten."""


def openings(repository_dir: Path) -> Iterator[str]:
    """Places and first lines of the product's docstrings without a noun first."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for package in PACKAGES:
        for file in sorted((repository_dir / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                told = ast.get_docstring(node) if isinstance(node, kinds) else None
                if told and NOUNLESS.match(told):
                    place = f"{file.relative_to(repository_dir)}:{getattr(node, 'lineno', 1)}"
                    yield f"{place}: {told.splitlines()[0]}"


def test_no_more_docstrings_begin_without_a_noun(repository_dir: Path) -> None:
    found = list(openings(repository_dir))
    assert len(found) <= STILL_TO_DO, "\n".join(found)


def test_an_opening_without_a_noun_is_found() -> None:
    bad = ["Of both.", "As found.", "Those that stay.", "What is left.", "What it takes."]
    good = ["The kept words.", "What a pool says.", "Office hours.", "Assign."]
    assert [text for text in bad + good if NOUNLESS.match(text)] == bad
