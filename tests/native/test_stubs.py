"""The committed stubs say what the built libraries bind."""

import importlib

import pytest
from native_stubs import CUDA, HOMES, stubs_of


@pytest.mark.parametrize("module", HOMES)
def test_committed_stubs_are_what_the_build_generates(module: str) -> None:
    generated = stubs_of(module)
    assert generated
    has_cuda = hasattr(importlib.import_module(module), "cuda")
    for path, text in generated.items():
        committed = path.read_text(encoding="utf-8")
        assert text == (committed if has_cuda else committed.replace(CUDA, "")), "make stubs"


def test_every_stub_is_of_a_library() -> None:
    found = {path for home in HOMES.values() for path in home.rglob("*.pyi")}
    generated = {path for module in HOMES for path in stubs_of(module)}
    assert {path for path in found - generated if path.name != "cuda.pyi"} == set()
