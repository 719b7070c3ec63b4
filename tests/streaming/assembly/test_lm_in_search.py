"""A start that asks for models in the search where there can be none."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from earshot.service.core.engine_setup import load_engine
from earshot.service.errors import StartupError
from earshot.service.settings import Settings
from earshot.streaming.assembly import engine_factory


@pytest.fixture
def start(monkeypatch, tmp_path, digit_loop):
    """Starts an engine whose graph holds no n-grams, and that hears nothing."""
    graph = digit_loop(20)
    assert graph.small_lm is None
    nothing = SimpleNamespace(model=None)
    for name in ("read_parts", "load_model", "give_up"):
        monkeypatch.setattr(engine_factory, name, lambda *_, **__: nothing)
    recognizer = SimpleNamespace(graph=graph)
    monkeypatch.setattr(engine_factory, "build_recognizer", lambda *_: recognizer)
    monkeypatch.setattr(engine_factory, "Engine", lambda recognizer, *_: recognizer)
    monkeypatch.setattr(engine_factory, "EnginePool", lambda recognizer, *_: recognizer)

    def of(engines: int = 1, **settings: object) -> object:
        named = {"graph": Path("my.graph"), "lm_dir": tmp_path, "device": "cpu", **settings}
        return load_engine(Settings.load(**named), engines=engines)

    return of


@pytest.mark.parametrize("engines", [1, 2])
def test_a_graph_without_its_n_grams_is_refused_by_name(start, engines):
    assert start(engines).graph.small_lm is None
    with pytest.raises(StartupError, match=r"the graph my\.graph: it does not hold its n-grams"):
        start(engines, lm_in_search=True)


def test_no_folder_of_models_is_refused_by_name(start):
    with pytest.raises(
        StartupError, match=r"lm_in_search: there is no folder of models \(lm_dir\)"
    ):
        start(lm_in_search=True, lm_dir=None)
