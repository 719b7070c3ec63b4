"""The native module: what is bound is what the Python face expects."""

import importlib
import inspect
import sys

import pytest
import torch

from earshot.decoder_kernels.errors import BackendMissing
from earshot.decoder_kernels.native import (
    NativeHalf,
    NativeModule,
    NativeSearch,
    native_half,
    native_module,
)
from earshot.decoder_kernels.prefix.prefix_search import PrefixSearch, PrefixSearchConfig


def public_names(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


@pytest.mark.no_launch
def test_everything_the_face_calls_is_bound(device: torch.device) -> None:
    half = native_half(device)
    assert public_names(NativeModule) <= set(dir(native_module()))
    assert public_names(NativeHalf) <= set(dir(half))
    assert public_names(NativeSearch) <= set(dir(half.PrefixSearch))


@pytest.mark.parametrize("method", sorted(public_names(NativeSearch)))
def test_methods_take_what_the_protocol_says(method: str) -> None:
    bound = getattr(native_half(torch.device("cpu")).PrefixSearch, method)
    promised = list(inspect.signature(getattr(NativeSearch, method)).parameters)
    signature = bound.__nb_signature__[0][0]
    positions = [signature.index(f"{name}:") for name in promised[1:]]
    assert positions == sorted(positions)


def test_a_device_without_a_half_is_named() -> None:
    with pytest.raises(BackendMissing, match="'meta'"):
        PrefixSearch(PrefixSearchConfig(), 1, 5, torch.device("meta"))


def test_a_checkout_that_was_never_built_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "earshot.decoder_kernels._native", None)
    with pytest.raises(BackendMissing, match="not built"):
        native_module()


def test_the_wrong_kind_of_array_is_refused() -> None:
    half = importlib.import_module("earshot.decoder_kernels._native").cpu
    with pytest.raises(TypeError):
        half.PrefixSearch(None, torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1))
