"""Whole files: what comes out, and that it is what the engine's search says."""

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from earshot.decoder_kernels.errors import CapacityExceeded
from earshot.decoder_kernels.graph.graph_file import write_graph
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch
from earshot.streaming.errors import (
    EngineFull,
    InvalidEngineConfig,
    InvalidStreamConfig,
    UnusableGraph,
)
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.posteriors.ctc_decoder import CtcDecoder
from earshot.streaming.posteriors.ctc_tokens import CtcTokens
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig


class OnlyDlpack:
    """An array of a library that torch has never heard of."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, **how):
        return self._tensor.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


def batch(*rows):
    return pad_sequence(list(rows), batch_first=True), [len(each) for each in rows]


def test_words_come_with_the_frames_of_their_tokens(decoder, say):
    [result] = decoder.decode(say("一三四 二")[None])
    assert result.text == "一三四二"
    assert [word.text for word in result.words] == ["一", "三四", "二"]
    assert [(word.start_frame, word.end_frame) for word in result.words] == [
        (2, 3), (5, 9), (21, 22),
    ]  # fmt: skip
    assert all(0.5 < word.confidence <= 1.0 for word in result.words)
    assert result.frames == 24
    assert (result.overflows, result.dead_ends) == (0, 0)


def test_it_says_what_the_engines_search_says(graph_engine, make_decoder, sounds, monkeypatch):
    """Of the log-probabilities that the engine has searched: same texts, scores, confidences."""
    searched = []
    advance = WfstSearch.advance

    def recording(self, slots, log_probs, lengths):
        searched.append(log_probs[0, : int(lengths[0])].clone())
        advance(self, slots, log_probs, lengths)

    monkeypatch.setattr(WfstSearch, "advance", recording)
    config = StreamConfig(
        mode="ctc_wfst_beam_search",
        alternatives=5,
        interim_results=False,  # finals keep what partials have called stable
        endpoint=EndpointConfig(silence_ms=None),
    )
    [final] = sounds.transcribe(graph_engine, sounds.speech("一三四 二五"), config).finals
    [result] = make_decoder().decode(torch.cat(searched)[None], nbest=5)
    assert result.text == "一三四二五"
    assert [(each.text, each.score) for each in result.nbest] == [
        (each.text, each.score) for each in final.alternatives
    ]
    for mine, told in zip(result.nbest, final.alternatives, strict=True):
        assert [word.confidence for word in mine.words] == [word.confidence for word in told.words]


def test_a_file_is_told_alike_alone_and_among_others_of_other_lengths(decoder, say):
    files = [say("一二", 1), say("五", 2), say("八三四一", 3), say("六六", 4), say("二", 5)]
    together = decoder.decode(*batch(*files), nbest=3)  # more than there are places
    alone = [decoder.decode(each[None], nbest=3)[0] for each in files]
    assert [each.text for each in together] == ["一二", "五", "八三四一", "六六", "二"]
    assert [each.nbest for each in together] == [each.nbest for each in alone]
    assert [each.frames for each in together] == [len(each) for each in files]


def test_files_without_frames_say_nothing(decoder, say):
    rows = say("一二")[None].repeat(2, 1, 1)
    heard, silent = decoder.decode(rows, [rows.shape[1], 0])
    assert (heard.text, silent.text, silent.words) == ("一二", "", ())
    assert decoder.decode(rows[:0]) == []
    [nothing] = decoder.decode(rows[:1, :0])
    assert nothing.text == ""


@pytest.mark.parametrize(
    "given",
    [
        lambda rows: rows.numpy(),
        lambda rows: rows.numpy().astype(">f8"),
        lambda rows: np.asfortranarray(rows.numpy()),
        lambda rows: np.frombuffer(rows.numpy().tobytes(), np.float32).reshape(rows.shape),
        lambda rows: rows.double(),
        lambda rows: rows.clone().requires_grad_(),
        OnlyDlpack,
    ],
)
def test_arrays_of_all_libraries_say_the_same(decoder, say, given):
    rows = say("一三四二")[None]
    [expected], [found] = decoder.decode(rows, nbest=3), decoder.decode(given(rows), nbest=3)
    assert found.nbest == expected.nbest


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_of_the_bits_will_do(decoder, say, dtype):
    assert decoder.decode(say("一三四二")[None].to(dtype))[0].text == "一三四二"


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_lengths_of_all_kinds(decoder, say, kind):
    rows, lengths = batch(say("一二"), say("五"))
    assert [each.text for each in decoder.decode(rows, kind(lengths))] == ["一二", "五"]


def test_nbest_are_distinct_texts_likeliest_first(decoder, say):
    [result] = decoder.decode((say("一二三") * 0.4).log_softmax(-1)[None], nbest=8)
    texts = [each.text for each in result.nbest]
    assert 1 < len(texts) == len(set(texts)) <= 8
    assert [each.score for each in result.nbest] == sorted(
        (each.score for each in result.nbest), reverse=True
    )
    assert result.text == texts[0]


def test_a_boost_brings_a_word_that_the_graph_lacks(decoder, say):
    rows = say("一九二")[None]
    assert "九" not in decoder.decode(rows)[0].text
    [result] = decoder.decode(rows, boosts=[Boost("九", 6.0), "二"])
    assert result.text == "一九二"
    assert [word.boosted for word in result.words] == [False, True, True]
    assert "九" not in decoder.decode(rows)[0].text  # and is gone with its call


def test_files_take_turns_where_boosts_of_all_have_no_room(make_decoder, say, monkeypatch):
    sizes = "earshot.streaming.search.ctc_searches.boost_capacity"
    monkeypatch.setattr(sizes, lambda config: 5)
    decoder = make_decoder()
    rows = say("一九二")[None].repeat(3, 1, 1)
    found = decoder.decode(rows, boosts=["九", "一二"])  # of which 5 states hold one table
    assert [each.text for each in found] == ["一九二"] * 3
    with pytest.raises(CapacityExceeded):
        decoder.decode(rows, boosts=["九", "一二", "二六", "六八五"])
    assert [each.text for each in decoder.decode(rows, boosts=["九"])] == ["一九二"] * 3


def test_a_phrase_that_cannot_be_boosted_is_told_of(decoder, say):
    [result] = decoder.decode(say("一")[None], boosts=["abc"])
    [warning] = result.warnings
    assert isinstance(warning, UnboostablePhrase)
    assert warning.phrase == "abc"


def test_a_weight_of_the_language_model_may_be_asked_for(decoder, say):
    rows = say("一七二")[None]
    assert "七" not in decoder.decode(rows)[0].text  # which costs 100 nats
    assert decoder.decode(rows, lm_weight=0.0)[0].text == "一七二"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"nbest": 0}, "nbest is 0"),
        ({"boosts": "九"}, "a list of phrases"),
        ({"boosts": [" "]}, "phrase is empty"),
        ({"lm": "off"}, "nothing to search but the graph"),
        ({"lm": "law"}, "no folder of language models"),
        ({"lm_weight": -1.0}, "lm_weight is -1"),
    ],
)
def test_what_makes_no_sense_is_refused(decoder, say, asked, told):
    with pytest.raises(InvalidStreamConfig, match=told):
        decoder.decode(say("一")[None], **asked)


def test_a_batch_needs_a_place_that_no_stream_has(make_decoder, say):
    decoder = make_decoder(max_streams=1)
    with decoder.stream(), pytest.raises(EngineFull, match="finish or close"):
        decoder.decode(say("一")[None])
    assert decoder.decode(say("一")[None])[0].text == "一"


def test_a_graph_may_be_a_file(digit_loop, make_decoder, say, tmp_path):
    path = tmp_path / "digits.graph"
    write_graph(path, digit_loop(12))
    assert make_decoder(path).decode(say("一二")[None])[0].text == "一二"
    with pytest.raises(UnusableGraph, match=r"other\.graph"):
        make_decoder(tmp_path / "other.graph")


def test_a_graph_of_other_tokens_is_refused(digit_loop, tokens):
    with pytest.raises(UnusableGraph, match="built for 13 units; the model has 12"):
        CtcDecoder(digit_loop(13), tokens)
    others = CtcTokens(tokens.symbols, blank="<unk>")
    with pytest.raises(UnusableGraph, match="blank is token 0, the model's 1"):
        CtcDecoder(digit_loop(12), others)


def test_sizes_that_make_no_decoder_are_refused(make_decoder):
    for options in ({"max_frames": 0}, {"max_streams": 0}, {"threads": 0}):
        [name] = options
        with pytest.raises(InvalidEngineConfig, match=name):
            make_decoder(**options)
