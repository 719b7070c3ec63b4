"""Graphs that are spelled in phones, of which there are two for every frame of tokens."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from earshot.decoder_kernels.graph.graph import Arc, Graph, units_checksum
from earshot.language.g2p.lexicon import LEXICON_FILE, write_lexicon_text
from earshot.language.g2p.pronouncer import pronouncer_of
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.units import CtcUnits
from earshot.streaming.errors import UnusableGraph
from earshot.streaming.events import Configured, Partial, UnboostablePhrase
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.stream_config import Boost, StreamConfig
from earshot.streaming.words.graph_words import GraphWords

GRAPH = StreamConfig(mode="ctc_wfst_beam_search")
PHONES = ("A", "B", "C", "D", "E", "F", "G", "H", "I")
"""One for each digit."""
SYMBOLS = ("<blank>", *PHONES)
KNOWN = "一二三四五六七八"


SOUNDS = dict(zip(f"{KNOWN}九", PHONES, strict=True)) | {"九九": PHONES[-1]}
"""The last also if it is written twice, and nothing else."""


@pytest.fixture
def phone_model(tone_model, tmp_path) -> LoadedModel:
    """The model that hears tones, with a phone head that says each frame twice."""
    model = type(tone_model.model)().eval()
    model.config = SimpleNamespace(**{**vars(model.config), "phones": PHONES, "phone_rate": 2})

    def phone_log_probs(encoded):
        tokens = model.ctc_log_probs(encoded)
        return tokens[..., [0, *range(3, 12)]].repeat_interleave(2, dim=-2)

    model.phone_log_probs = phone_log_probs
    lines = [f"{word} {phone}\n" for word, phone in SOUNDS.items()]
    write_lexicon_text(tmp_path / LEXICON_FILE, "".join(lines))
    return replace(tone_model, model=model, directory=tmp_path, ctc=CtcUnits(0, PHONES))


def phone_loop(**changes) -> Graph:
    """Digits in any order."""
    arcs = [Arc(0, 2 + place, 1 + place, 1.0, 0) for place in range(len(KNOWN))]
    rest = {"vocab_size": len(SYMBOLS), "units_checksum": units_checksum(SYMBOLS), **changes}
    return Graph.from_arcs(
        arcs,
        {0: 0.0},
        1,
        topology="compact",
        word_texts=["<eps>", *KNOWN],
        loop_node=0,
        unknown_cost=5.0,
        **rest,
    )


@pytest.fixture
def make_phone_engine(make_engine, phone_model) -> Callable:
    def make(loaded=None, graph=None):
        search = GraphSearchConfig(lm_weight=1.0, max_active=200)
        return make_engine(
            loaded or phone_model,
            graph=graph or phone_loop(),
            graph_search=search,
            chunk_size=8,
            num_left_chunks=2,
            max_streams=8,
        )

    return make


def words_of(heard):
    return [word for final in heard.finals for word in final.alternatives[0].words]


def test_words_come_out_where_tokens_say_they_are(make_phone_engine, graph_engine, sounds):
    samples = sounds.speech("一二 五_八")
    heard = sounds.transcribe(make_phone_engine(), samples, GRAPH)
    tokens = sounds.transcribe(graph_engine, samples, GRAPH)
    assert [final.alternatives[0].text for final in heard.finals] == ["一二五", "八"]
    assert [word.text for word in words_of(heard)] == [word.text for word in words_of(tokens)]
    for ours, theirs in zip(words_of(heard), words_of(tokens), strict=True):
        assert (ours.start_s, ours.end_s) == (theirs.start_s, theirs.end_s)
        assert ours.confidence == pytest.approx(theirs.confidence, abs=0.1)


def test_streams_of_different_lengths_share_a_step(make_phone_engine, sounds):
    engine = make_phone_engine()
    texts = ["一", "二三四五", "六七八一二三"]
    listeners = [sounds.Listener() for _ in texts]
    streams = [engine.open(GRAPH, listener) for listener in listeners]
    for text, stream in zip(texts, streams, strict=True):
        sounds.push_all(stream, sounds.speech(text))
        stream.finish()
    for text, listener in zip(texts, listeners, strict=True):
        listener.wait_for_last()
        assert listener.text == text


def test_a_word_from_outside_is_pronounced(make_phone_engine, sounds):
    samples = sounds.speech("一九二")
    engine = make_phone_engine()
    assert "九" not in sounds.transcribe(engine, samples, GRAPH).text
    heard = sounds.transcribe(engine, samples, replace(GRAPH, boosts=(Boost("九", 5.0),)))
    assert [(word.text, word.boosted) for word in words_of(heard)] == [
        ("一", False),
        ("九", True),
        ("二", False),
    ]


def test_boosts_that_come_later_search_the_segment_again(make_phone_engine, sounds):
    listener = sounds.Listener()
    stream = make_phone_engine().open(GRAPH, listener)
    sounds.push_all(stream, sounds.speech("一九"))
    listener.wait_for(lambda event: isinstance(event, Partial))
    stream.configure(boosts=(Boost("九", 5.0),))
    listener.wait_for(lambda event: isinstance(event, Configured))
    stream.finish()
    listener.wait_for_last()
    assert listener.text == "一九"


@pytest.mark.parametrize(
    ("phrases", "refused", "why"),
    [
        (("八九", "九"), "八九", "not in the model's lexicon"),
        (("九", "八 九九"), "八 九九", "sounds like '九'"),  # which the first one is
    ],
)
def test_new_words_that_cannot_be_are_warned_of(make_phone_engine, sounds, phrases, refused, why):
    boosts = tuple(Boost(phrase, 5.0) for phrase in phrases)
    heard = sounds.transcribe(
        make_phone_engine(), sounds.speech("八九"), replace(GRAPH, boosts=boosts)
    )
    [warning] = heard.of(UnboostablePhrase)
    assert warning.phrase == refused
    assert why in warning.reason
    assert heard.text == "八九"


def test_a_model_without_pronunciations_takes_no_new_words(make_phone_engine, phone_model, sounds):
    engine = make_phone_engine(replace(phone_model, directory=None))
    boosts = (Boost("九", 5.0), Boost("一", 1.0))
    heard = sounds.transcribe(engine, sounds.speech("一"), replace(GRAPH, boosts=boosts))
    [warning] = heard.of(UnboostablePhrase)
    assert (warning.phrase, heard.text) == ("九", "一")
    assert "how new words are pronounced" in warning.reason


def test_signs_that_tokens_lack_are_left_out_in_the_second_pass(phone_model):
    tokenizer = load_model(bundled_model_dir()).tokenizer
    words = GraphWords(
        phone_loop(), tokenizer, units="phones", pronouncer=pronouncer_of(phone_model)
    )
    assert words.new_word("Ice-Café").tokens == tuple(tokenizer.encode("icecafe"))
    assert words.new_word("Ice-Café").text == "Ice-Café"
    with pytest.raises(UnencodableText, match="茶"):
        words.new_word("茶")


def test_an_initialism_of_a_request_is_said_by_its_letters():
    bundled = load_model(bundled_model_dir())
    words = GraphWords(
        phone_loop(), bundled.tokenizer, units="phones", pronouncer=pronouncer_of(bundled)
    )
    letters = [words.spelling(letter) for letter in "GPT"]
    assert words.spelling("GPT") == sum(letters, ())
    assert words.spelling("gpt") != sum(letters, ())
    assert list(words.spellings(["GPT", "gpt"])) == ["gpt"]


def test_the_description_says_what_words_are_spelled_in(make_phone_engine, phone_model):
    assert make_phone_engine().model.parts["graph"].units == "phones"
    assert make_phone_engine().model.parts["graph"].new_words
    silent = make_phone_engine(replace(phone_model, directory=None))
    assert not silent.model.parts["graph"].new_words


def test_a_graph_of_tokens_is_still_searched(make_phone_engine, digit_loop, phone_model, sounds):
    graph = digit_loop(phone_model.tokenizer.vocab_size)
    engine = make_phone_engine(graph=graph)
    assert engine.model.parts["graph"].units == "tokens"
    assert sounds.transcribe(engine, sounds.speech("二三四"), GRAPH).text == "二三四"


def test_a_graph_of_other_phones_is_refused(make_phone_engine):
    with pytest.raises(UnusableGraph):
        make_phone_engine(graph=phone_loop(units_checksum=units_checksum(SYMBOLS[::-1])))
    with pytest.raises(UnusableGraph, match="blank"):
        make_phone_engine(graph=phone_loop(blank_id=9))
