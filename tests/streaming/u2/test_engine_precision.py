"""An engine's precision reaches its network, and is told."""

import pytest
import torch
from tiny_models import make_tiny_model

from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.native import precision_choice, weights
from earshot.models.native.precision_choice import INSTRUCTION, LEAST_PARAMETERS
from earshot.models.neural_lm.lm_file import load_neural_lm
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.neural_lm import NEURAL_LM
from earshot.streaming.u2.engine_precision import engine_precision

PROCESSORS = [(INSTRUCTION, "int8"), ("avx512f", "float32")]


@pytest.fixture(scope="module")
def bundled() -> LoadedModel:
    return load_model(bundled_model_dir())


@pytest.fixture
def built(monkeypatch) -> list[str]:
    """The precisions of all layers that are packed."""
    found: list[str] = []
    own = weights.rows_weights

    def rows_weights(weight, bias, precision="float32"):
        found.append(precision)
        return own(weight, bias, precision)

    for user in ("native.weights", "native.ends", "u2.conformer_step"):
        monkeypatch.setattr(f"earshot.models.{user}.rows_weights", rows_weights)
    return found


@pytest.mark.parametrize("asked", ["float32", "bfloat16", "int8", "w8a8"])
def test_all_linear_layers_are_built_as_asked(bundled, built, asked):
    recognizer = build_recognizer(bundled, EngineConfig(max_streams=1, precision=asked))
    assert set(built) == {asked}
    assert len(built) > 60  # stem, blocks, both heads, the decoder
    assert recognizer.model.precision == asked


@pytest.mark.parametrize(("processor", "precision"), PROCESSORS)
def test_auto_takes_the_bundled_networks_int8_as_it_is_where_that_pays(
    bundled, built, monkeypatch, processor, precision
):
    monkeypatch.setattr(precision_choice, "processors", lambda: (processor,))
    recognizer = build_recognizer(bundled, EngineConfig(max_streams=1))
    assert set(built) == {precision}
    assert recognizer.model.precision == precision


def test_auto_leaves_the_small_language_model_as_it_is():
    neural_lm = load_neural_lm(bundled_model_dir() / "neural_lm.safetensors").network
    assert sum(each.numel() for each in neural_lm.parameters()) < LEAST_PARAMETERS


@pytest.mark.parametrize("asked", ["bfloat16", "int8", "w8a8"])
def test_fewer_bits_are_refused_where_torch_runs_the_encoder(asked):
    model = make_tiny_model().double()
    assert engine_precision(model, "auto") == engine_precision(model, "float32") == "float32"
    with pytest.raises(InvalidEngineConfig, match="run by torch here"):
        engine_precision(model, asked)


def test_the_neural_language_model_is_fitted_in_the_precision(tone_model):
    scorer = load_neural_lm(bundled_model_dir() / "neural_lm.safetensors")
    sentence = [[["so", "it", "is"], ["so", "is", "it"]]]
    exact = scorer.score(sentence)
    for asked, same in (("auto", True), ("float32", True), ("bfloat16", False), ("int8", False)):
        read = {"graph": object(), "neural_lm": scorer}
        fitted = ModelParts(tone_model, read, precision=asked).get(NEURAL_LM)
        assert (fitted is scorer) is same
        assert (fitted.score(sentence) == exact) is same
    [found], [expected] = fitted.score(sentence), exact
    ends = torch.tensor([[own.end for own in scores] for scores in (found, expected)])
    assert (ends[0] - ends[1]).abs().max() < 0.2


def test_precisions_that_nobody_knows_are_refused():
    with pytest.raises(InvalidEngineConfig, match="precision is 'int4', none of auto, float32"):
        EngineConfig(precision="int4")
