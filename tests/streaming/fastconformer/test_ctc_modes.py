"""NeMo's CTC heads by greedy, prefix and graph search, on clips that NeMo decoded itself."""

import itertools

import pytest
import torch
from nemo_golden import CTC
from prefix_oracle import OracleSearch

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.language.graphs.build import Units, build_graph
from earshot.models.config import DecodingConfig
from earshot.models.errors import UnencodableText
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidStreamConfig, UnusableGraph
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.ctc_searches import graph_search_sizes
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

PREFIX, GREEDY, WFST = "ctc_prefix_beam_search", "ctc_greedy_search", "ctc_wfst_beam_search"
WHOLE = EndpointConfig(silence_ms=None, no_speech_ms=60_000)
WORDS = ("the", "quick", "for", "loops", "dog", "over", "a")
SIZES = {"max_streams": 2}


@pytest.fixture(params=CTC)
def golden(nemo_golden, request):
    return nemo_golden(request.param)


def asking(mode: str | None = None, **options) -> StreamConfig:
    return StreamConfig(mode=mode, endpoint=WHOLE, **options)


def log_probs(golden) -> list[torch.Tensor]:
    """What NeMo's CTC head said of each clip, `(T, V + 1)`."""
    lengths = golden.arrays["encoded_lengths"].tolist()
    return [row[:n] for row, n in zip(golden.arrays["ctc_log_probs"], lengths, strict=True)]


def is_decided(rows: torch.Tensor) -> bool:
    """Whether rounding decides in no frame which unit is the likeliest; in two clips it does."""
    first, second = rows.topk(2, dim=-1).values.T
    return bool((first - second).min() > 1e-3)


@pytest.fixture
def word_graph(tmp_path):
    """Makes the graph of a model over a few words, all as likely."""

    def make(loaded) -> Graph:
        rows = "".join(f"-0.9 {word}\n" for word in WORDS)
        arpa = (
            f"\\data\\\nngram 1={len(WORDS) + 2}\n\n\\1-grams:\n-99 <s>\n-1 </s>\n{rows}\\end\\\n"
        )
        (tmp_path / "words.arpa").write_text(arpa)
        ctc, tokenizer = loaded.ctc, loaded.tokenizer
        symbols = ctc.token_symbols(tokenizer.units.symbols)
        units = Units(symbols, ctc.blank_id, tokenizer.separator)
        spell = spelling_with(tokenizer)
        return build_graph(tmp_path / "words.arpa", spell, units).graph

    return make


def spelling_with(tokenizer):
    def spell(word: str):
        try:
            return [tuple(tokenizer.encode(word))]
        except UnencodableText:
            return ()

    return spell


def test_greedy_search_finds_what_nemos_does(make_engine, golden, sounds):
    engine = make_engine(golden.loaded, **SIZES)
    clips = zip(golden.audio, log_probs(golden), golden.decoded["ctc_greedy"], strict=True)
    decided = [(samples, found) for samples, rows, found in clips if is_decided(rows)]
    assert len(decided) >= 3
    for samples, found in decided:
        heard = sounds.transcribe(engine, samples.numpy(), asking(GREEDY))
        assert heard.text == golden.loaded.tokenizer.decode(found["tokens"])


@pytest.mark.parametrize("beam_size", [1, 10])
def test_prefix_search_finds_what_the_plain_one_does(make_engine, golden, sounds, beam_size):
    engine = make_engine(golden.loaded, beam_size=beam_size, **SIZES)
    loaded = golden.loaded
    for samples, rows in zip(golden.audio, log_probs(golden), strict=True):
        if is_decided(rows):
            plain = OracleSearch(beam_size, token_beam=10, blank_id=loaded.ctc.blank_id)
            plain.advance(rows.tolist())
            expected = loaded.tokenizer.decode(plain.nbest()[0].tokens)
            assert sounds.transcribe(engine, samples.numpy(), asking(PREFIX)).text == expected


def test_graph_search_finds_the_likeliest_words_of_the_graph(
    make_engine, golden, sounds, word_graph
):
    graph = word_graph(golden.loaded)
    engine = make_engine(golden.loaded, graph=graph, **SIZES)
    options = GraphSearchConfig().of(DecodingConfig()).options(GraphOptions())
    search = WfstSearch(graph, graph_search_sizes(EngineConfig(max_streams=1)), 1)
    search.set_options(0, options)
    slot = torch.tensor([0])
    for samples, rows in zip(golden.audio, log_probs(golden), strict=True):
        search.reset(slot)
        search.advance(slot, rows[None].contiguous(), torch.tensor([len(rows)]))
        [found] = search.best(slot, finalize=True)
        heard = sounds.transcribe(engine, samples.numpy(), asking(WFST))
        assert heard.text == " ".join(graph.word_texts[word] for word in found.hypothesis.words)


@pytest.mark.parametrize("name", ["ctc_offline", "conformer_ctc_striding4"])
def test_a_graph_is_what_streams_of_a_ctc_model_are_searched_in(
    make_engine, nemo_golden, sounds, word_graph, name
):
    golden = nemo_golden(name)
    engine = make_engine(golden.loaded, graph=word_graph(golden.loaded), **SIZES)
    samples = golden.audio[0].numpy()
    plain = sounds.transcribe(engine, samples, asking())
    assert engine.model.modes == (WFST, PREFIX, GREEDY)
    assert plain.text
    assert set(plain.text.split()) <= set(WORDS)
    assert plain.events == sounds.transcribe(engine, samples, asking(WFST)).events
    without = sounds.transcribe(engine, samples, asking(graph=GraphOptions(lm=False)))
    assert without.text == sounds.transcribe(engine, samples, asking(PREFIX)).text != plain.text


def test_a_hybrid_decodes_by_its_transducer_unless_a_mode_says_otherwise(
    make_engine, nemo_golden, sounds, word_graph
):
    golden = nemo_golden("hybrid_tdt_ctc")
    engine = make_engine(golden.loaded, graph=word_graph(golden.loaded), **SIZES)
    samples = golden.audio[0].numpy()
    transducer = "transducer_greedy_search"
    assert engine.model.modes == (transducer, "transducer_beam_search", WFST, PREFIX, GREEDY)
    plain, asked = (sounds.transcribe(engine, samples, asking(m)) for m in (None, transducer))
    assert plain.events == asked.events
    assert set(sounds.transcribe(engine, samples, asking(WFST)).text.split()) <= set(WORDS)
    with pytest.raises(InvalidStreamConfig, match="lm=on: mode transducer_greedy_search uses none"):
        engine.open(asking(graph=GraphOptions(lm=True)), sounds.Listener())


def test_words_of_a_graph_have_times_and_confidences(make_engine, nemo_golden, sounds, word_graph):
    golden = nemo_golden("ctc_offline")
    engine = make_engine(golden.loaded, graph=word_graph(golden.loaded), **SIZES)
    heard = sounds.transcribe(engine, golden.audio[0].numpy(), asking())
    words = [word for final in heard.finals for word in final.alternatives[0].words]
    assert all(0.0 < word.confidence <= 1.0 for word in words)
    assert all(word.start_s < word.end_s for word in words)
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(words))


@pytest.mark.parametrize("mode", [None, WFST, PREFIX, GREEDY])
def test_alternatives_are_told_best_first(make_engine, nemo_golden, sounds, word_graph, mode):
    golden = nemo_golden("ctc_offline")
    engine = make_engine(golden.loaded, graph=word_graph(golden.loaded), **SIZES)
    heard = sounds.transcribe(engine, golden.audio[0].numpy(), asking(mode, alternatives=3))
    [final] = heard.finals
    texts = [each.text for each in final.alternatives]
    assert len(set(texts)) == len(texts) == (1 if mode == GREEDY else 3)


@pytest.mark.parametrize("name", ["rnnt_streaming", "tdt_offline"])
def test_a_graph_for_a_model_without_a_ctc_head_is_refused(
    make_engine, nemo_golden, word_graph, name
):
    graph = word_graph(nemo_golden("ctc_offline").loaded)
    with pytest.raises(UnusableGraph, match="the model has no CTC head to search it by"):
        make_engine(nemo_golden(name).loaded, graph=graph, **SIZES)


def test_a_graph_of_another_models_units_is_refused(make_engine, nemo_golden, word_graph):
    graph = word_graph(nemo_golden("conformer_ctc_striding4").loaded)
    with pytest.raises(UnusableGraph, match="built for 29 units; the model has 65"):
        make_engine(nemo_golden("ctc_offline").loaded, graph=graph, **SIZES)


def test_what_a_boost_may_earn_is_told_where_streams_are_searched_by_ctc(
    make_engine, nemo_golden, word_graph
):
    golden = nemo_golden("ctc_offline")
    graph = word_graph(golden.loaded)
    assert make_engine(golden.loaded, **SIZES).model.most_earned == TOKEN_LIMIT
    assert make_engine(golden.loaded, graph=graph, **SIZES).model.most_earned == 7.5


def test_boosts_of_prefix_search_are_those_of_the_plain_one(make_engine, golden, sounds):
    """Also of the last label, beside which the blank is."""
    tokenizer = golden.loaded.tokenizer
    last = tokenizer.token(tokenizer.vocab_size - 1)
    boosts = (Boost("loops"), Boost(last, 2.0), Boost("he", -3.0))
    engine = make_engine(golden.loaded, **SIZES)
    table = compile_boosts(boosts, tokenizer).table
    for samples, rows in zip(golden.audio, log_probs(golden), strict=True):
        if is_decided(rows):
            plain = OracleSearch(10, 10, golden.loaded.ctc.blank_id, table)
            plain.advance(rows.tolist())
            heard = sounds.transcribe(engine, samples.numpy(), asking(PREFIX, boosts=boosts))
            assert heard.text == tokenizer.decode(plain.nbest()[0].tokens)
            assert not heard.of(UnboostablePhrase)


@pytest.mark.parametrize("name", ["ctc_offline", "conformer_ctc_striding4"])
def test_a_boosted_word_that_the_graph_lacks_is_heard(
    make_engine, nemo_golden, sounds, word_graph, name
):
    golden = nemo_golden(name)
    engine = make_engine(golden.loaded, graph=word_graph(golden.loaded), **SIZES)
    samples = golden.audio[0].numpy()
    boosted = asking(WFST, boosts=(Boost("Weg", 20.0), Boost("quo loops")))
    heard = sounds.transcribe(engine, samples, boosted)
    words = [word for final in heard.finals for word in final.alternatives[0].words]
    assert {word.text for word in words} <= {*WORDS, "Weg", "quo"}
    assert {word.boosted for word in words if word.text == "Weg"} == {True}
    assert "Weg" not in sounds.transcribe(engine, samples, asking(WFST)).text
