"""Which decoding graph a server searches, and which neural language model ranks what it finds."""

from pathlib import Path

import pytest

from earshot.models.bundled import bundled_model_dir
from earshot.service.core import engine_setup as engine
from earshot.service.errors import StartupError
from earshot.service.part_settings import PART_OPTIONS
from earshot.service.settings import Settings
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.neural_lm import NEURAL_LM


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model's directory."""
    (tmp_path / "model").mkdir()
    return tmp_path / "model"


@pytest.fixture
def built(monkeypatch):
    """The graph and neural model that an engine with these settings would be built with."""

    def of(**settings: object) -> tuple[Path | None, Path | None]:
        found: list[tuple[Path | None, Path | None]] = []
        monkeypatch.setattr(
            engine,
            "build_engine",
            lambda _, parts, *rest, **named: found.append(
                (parts.get("graph"), parts.get("neural_lm"))
            ),
        )
        engine.load_engine(Settings.load(**settings))
        return found[0]

    return of


@pytest.fixture
def searched(built):
    """The graph alone."""
    return lambda **settings: built(**settings)[0]


def test_it_is_the_one_beside_the_weights_if_there_is_one(searched, model: Path) -> None:
    assert searched(model=model) is None
    (model / GRAPH.file).touch()
    assert searched(model=model) == model / "lm.graph.xz"


def test_the_bundled_model_has_one(searched) -> None:
    assert searched() == bundled_model_dir() / "lm.graph.xz"


def test_it_can_be_another_or_none(searched, model: Path, monkeypatch) -> None:
    (model / GRAPH.file).touch()
    assert searched(model=model, graph="my.graph") == Path("my.graph")
    assert searched(model=model, graph="none") is None
    assert searched(model=model, graph="./none") == Path("none")
    monkeypatch.setenv("EARSHOT_GRAPH", "none")
    assert searched(model=model) is None


@pytest.mark.parametrize("name", [each for each in PART_OPTIONS if "transducer" not in each])
def test_settings_of_a_search_that_does_not_happen_are_refused(searched, name: str) -> None:
    with pytest.raises(StartupError, match=f"{name} is a setting of the graph search"):
        searched(graph="none", **{name: True if name == "lm_in_search" else 2})


def test_the_neural_model_is_the_one_beside_the_weights_if_there_is_one(built, model: Path) -> None:
    (model / GRAPH.file).touch()
    assert built(model=model) == (model / "lm.graph.xz", None)
    (model / NEURAL_LM.file).touch()
    assert built(model=model) == (model / "lm.graph.xz", model / "neural_lm.safetensors")


def test_the_neural_model_can_be_another_or_none(built, model: Path, monkeypatch) -> None:
    for name in (GRAPH.file, NEURAL_LM.file):
        (model / name).touch()
    assert built(model=model, neural_lm="my.lm", neural_lm_weight=0.3)[1] == Path("my.lm")
    assert built(model=model, neural_lm="none")[1] is None
    assert built(model=model, graph="my.graph") == (Path("my.graph"), None)
    assert built(model=model, graph="my.graph", neural_lm="my.lm")[1] == Path("my.lm")
    monkeypatch.setenv("EARSHOT_NEURAL_LM", "none")
    assert built(model=model)[1] is None


def test_without_a_graph_there_is_nothing_for_it_to_rank(built, model: Path) -> None:
    (model / NEURAL_LM.file).touch()
    assert built(model=model) == (None, None)
    assert built(model=model, graph="none", neural_lm="none") == (None, None)
    with pytest.raises(StartupError, match=r"neural_lm=my\.lm .* there is no graph"):
        built(model=model, neural_lm="my.lm")


def test_its_weight_needs_one(built, model: Path) -> None:
    (model / GRAPH.file).touch()
    with pytest.raises(StartupError, match="neural_lm_weight is set, and there is no neural"):
        built(model=model, neural_lm_weight=0.5)


def test_a_neural_model_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.lm").write_bytes(b"nothing")
    with pytest.raises(StartupError, match=r"broken\.lm is not a safetensors file"):
        engine.load_engine(Settings.load(neural_lm=str(tmp_path / "broken.lm")))
