"""Where an engine's model goes, where nobody says."""

import pytest

from earshot.streaming.assembly import devices, engine_factory
from earshot.streaming.assembly.engine_factory import default_engines


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which a model on the CPU keeps both busy; a GPU has one engine."""
    monkeypatch.setattr(engine_factory, "usable_cores", lambda: 2)


@pytest.mark.parametrize("with_card", [False, True])
@pytest.mark.parametrize("with_kernels", [False, True])
def test_a_gpu_is_taken_where_torch_and_the_kernels_can_use_it(
    monkeypatch: pytest.MonkeyPatch, with_card: bool, with_kernels: bool
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: with_card)
    monkeypatch.setattr(devices, "has_half", lambda kind: with_kernels and kind == "cuda")
    on_a_gpu = with_card and with_kernels
    assert default_engines("auto", None) == (1 if on_a_gpu else 2)
    assert default_engines("cpu", None) == 2
