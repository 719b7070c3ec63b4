"""The native module: every half binds what the CPU's does, and what is missing is said."""

import importlib
import runpy
import sys
from inspect import isclass

import pytest
import torch

import earshot.decoder_kernels
from earshot.decoder_kernels import native
from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import kernels, native_half
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig


def public_names(of: object) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


@pytest.mark.no_launch
def test_every_half_binds_what_the_cpus_does(device: torch.device) -> None:
    half = native_half(device)
    expected = public_names(kernels.cpu)
    assert expected <= public_names(half)
    for name in expected:
        bound = getattr(kernels.cpu, name)
        if isclass(bound):
            assert public_names(bound) <= public_names(getattr(half, name))


def test_a_device_without_a_half_is_named() -> None:
    with pytest.raises(BackendMissing, match="'meta'"):
        PrefixSearch(PrefixSearchConfig(), 1, 5, torch.device("meta"))


@pytest.mark.parametrize("left", [None, type(sys)("a folder of stubs")])
def test_a_checkout_that_was_never_built_says_so(
    monkeypatch: pytest.MonkeyPatch, left: object
) -> None:
    monkeypatch.setitem(sys.modules, "earshot.decoder_kernels._native", left)
    monkeypatch.delattr(earshot.decoder_kernels, "_native")
    with pytest.raises(BackendMissing, match="not built"):
        runpy.run_path(native.__file__)


def test_the_wrong_kind_of_array_is_refused() -> None:
    half = importlib.import_module("earshot.decoder_kernels._native").cpu
    with pytest.raises(TypeError):
        half.PrefixSearch(None, torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1))
