"""Which decoding graph a server searches."""

from pathlib import Path

import pytest

from models.bundled import bundled_model_dir
from service.commands import engine
from service.errors import StartupError
from service.settings import Settings


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's directory."""
    (tmp_path / "model").mkdir()
    return tmp_path / "model"


@pytest.fixture
def searched(monkeypatch):
    """The graph that an engine with these settings would be built with."""

    def of(**settings: object) -> Path | None:
        built: list[Path | None] = []
        monkeypatch.setattr(engine, "build_engine", lambda *given: built.append(given[4]))
        engine.load_engine(Settings.load(**settings))
        return built[0]

    return of


def test_it_is_the_one_beside_the_weights_if_there_is_one(searched, model: Path) -> None:
    assert searched(model=model) is None
    (model / engine.OWN_GRAPH).touch()
    assert searched(model=model) == model / "lm.graph.xz"


def test_the_bundled_model_has_one(searched) -> None:
    assert searched() == bundled_model_dir() / "lm.graph.xz"


def test_it_can_be_another_or_none(searched, model: Path, monkeypatch) -> None:
    (model / engine.OWN_GRAPH).touch()
    assert searched(model=model, graph="my.graph") == Path("my.graph")
    assert searched(model=model, graph="none") is None
    assert searched(model=model, graph="./none") == Path("none")
    monkeypatch.setenv("EARSHOT_GRAPH", "none")
    assert searched(model=model) is None


@pytest.mark.parametrize("name", engine.GRAPH_SEARCH_SETTINGS)
def test_settings_of_a_search_that_does_not_happen_are_refused(searched, name: str) -> None:
    with pytest.raises(StartupError, match=f"{name} is a setting of the graph search"):
        searched(graph="none", **{name: 2})
