"""A NeMo model as an engine describes it, and what no engine makes of one."""

from __future__ import annotations

import copy
import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import pytest
from random_nemo import SYMBOLS, babble, random_nemo

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.models.errors import ModelError
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig, UnusableGraph
from earshot.streaming.fastconformer.build import build_fastconformer
from earshot.streaming.parts.model_parts import ModelParts

TRANSDUCER_MODES = ("transducer_greedy_search", "transducer_beam_search")
CTC_MODES = ("ctc_prefix_beam_search", "ctc_greedy_search")


@pytest.fixture(scope="module")
def digits() -> Graph:
    """Digits in any order."""
    arcs = [Arc(0, 1 + unit, 1 + unit, 1.0, 0) for unit in range(9)]
    return Graph.from_arcs(
        arcs, {0: 0.0}, 1, vocab_size=len(SYMBOLS) + 1, blank_id=len(SYMBOLS), topology="compact",
        word_texts=["<eps>", *SYMBOLS[:9]], loop_node=0, unknown_cost=5.0,
    )  # fmt: skip


def described(kind: str, parts: dict | None = None, **options) -> ModelDescription:
    return build_recognizer(random_nemo(kind), EngineConfig(**options), parts).model


def test_chunks_are_told_with_the_first_context_as_the_default() -> None:
    told = described("chunks, tdt and ctc")
    assert (told.chunk_ms, told.chunks_ms, told.buffered) == (320, (80, 160, 320), False)
    assert told.heads == ("tdt", "ctc")
    assert told.modes == (*TRANSDUCER_MODES, *CTC_MODES)
    assert (told.format, told.sample_rate_hz, told.vocab_size) == ("nemo", 16_000, len(SYMBOLS))


def test_a_chunk_that_was_trained_becomes_the_default() -> None:
    told = described("chunks, rnnt", chunk_size=1)
    assert (told.chunk_ms, told.chunks_ms, told.heads) == (80, (80, 160, 320), ("rnnt",))


def test_windows_are_told_as_buffered() -> None:
    told = described("windows, ctc")
    assert (told.chunk_ms, told.chunks_ms, told.buffered) == (2000, (2000, 10_000), True)
    assert (told.heads, told.modes) == (("ctc",), CTC_MODES)


def test_a_graph_is_searched_by_default_where_there_is_no_transducer(digits) -> None:
    graph = "ctc_wfst_beam_search"
    assert described("windows, ctc", {"graph": digits}).modes == (graph, *CTC_MODES)
    both = described("windows, rnnt and ctc", {"graph": digits})
    assert both.modes == (*TRANSDUCER_MODES, graph, *CTC_MODES)
    assert both.parts["graph"] is not None


def test_a_graph_has_words_found_in_it(make_engine, sounds, digits) -> None:
    engine = make_engine(random_nemo("windows, ctc"), graph=digits, max_streams=2)
    heard = sounds.transcribe(engine, babble(6.0, 3))
    assert heard.text
    assert set(heard.text) <= set(SYMBOLS[:9])


@pytest.mark.parametrize(("last", "writes"), [("\u2581", False), (".", True), ("\u3002", True)])
def test_who_has_a_mark_among_its_units_writes_marks(last: str, writes: bool) -> None:
    units = UnitTable.of((*SYMBOLS[:-1], last), "test")
    loaded = replace(random_nemo("windows, ctc"), tokenizer=CharTokenizer(units))
    assert build_recognizer(loaded, EngineConfig()).model.writes_marks is writes


def test_languages_of_a_prompt_are_told() -> None:
    assert described("chunks, rnnt with prompt").languages == ("en-US", "de-DE", "zh-CN", "auto")


@pytest.mark.parametrize(
    ("kind", "options", "complaint"),
    [
        ("chunks, rnnt", {"chunk_size": 3}, "chunk_size is 3, the model was trained in: 1, 2, 4"),
        ("windows, ctc", {"chunk_size": 4}, "chunk_size: this model hears in windows of its own"),
        ("windows, ctc", {"weights": {"ctc": 1.0}}, "ctc_weight: no scorer of this model's family"),
        ("windows, ctc", {"num_left_chunks": 2}, "'fastconformer' have no option num_left_chunks"),
    ],
)
def test_what_no_engine_can_be_built_with_is_refused(kind, options, complaint) -> None:
    with pytest.raises(InvalidEngineConfig, match=complaint):
        described(kind, **options)


def test_a_neural_language_model_is_refused(digits) -> None:
    network = SimpleNamespace(parameters=list, config=SimpleNamespace(vocab_size=3))
    scorer = SimpleNamespace(network=network, with_precision=lambda _: scorer)
    with pytest.raises(InvalidEngineConfig, match="neural language model: models of this family"):
        described("windows, ctc", {"graph": digits, "neural_lm": scorer})


def test_a_model_of_labels_without_a_transducer_is_refused() -> None:
    with pytest.raises(InvalidEngineConfig, match="of labels: this model has no transducer"):
        described("windows, ctc", {"transducer_lm": object()})


def test_a_graph_without_a_ctc_head_is_refused(digits) -> None:
    with pytest.raises(UnusableGraph, match="no CTC head"):
        described("windows, tdt", {"graph": digits})


def test_another_familys_model_is_refused(tone_model) -> None:
    with pytest.raises(ModelError, match="tones is a model of the family 'u2'"):
        build_fastconformer(tone_model, EngineConfig(), ModelParts(tone_model, {}))


@pytest.mark.parametrize("kind", ["chunks, tdt and ctc", "windows, rnnt and ctc"])
def test_weights_of_native_layers_are_in_memory_once(kind) -> None:
    loaded = copy.deepcopy(random_nemo(kind))
    network = weakref.ref(loaded.model.encoder.layers[0])
    recognizer = build_recognizer(loaded, EngineConfig(max_streams=1))
    del loaded
    gc.collect()
    assert network() is None
    assert recognizer.model.parameters > 0
