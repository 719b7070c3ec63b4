"""Log-probabilities that come piece by piece."""

import numpy as np
import pytest
import torch

from earshot.streaming.errors import EngineFull, InvalidLogProbs, InvalidStreamConfig, StreamClosed


def test_cutting_the_pieces_elsewhere_changes_nothing(decoder, say):
    rows = say("一二三四 五六八一二")
    [whole] = decoder.decode(rows[None], nbest=3)
    for seed in range(3):
        places = np.random.default_rng(seed).integers(0, len(rows), size=8)
        stream = decoder.stream(nbest=3)
        for piece in rows.tensor_split(sorted(places.tolist())):
            stream.push(piece)
        result = stream.finish()
        assert (result.nbest, result.frames) == (whole.nbest, whole.frames)
        assert result.lattice.to_kaldi_text("a") == whole.lattice.to_kaldi_text("a")


def test_partials_grow_and_keep_what_is_stable(decoder, say):
    with decoder.stream() as stream:
        partials = [stream.push(piece) for piece in say("一二五六八一二五").split(3)]
        words = [word.text for word in stream.finish().words]
    assert partials[-1].text == "一二五六八一二五"
    assert partials[-1].stable_words > 0
    for partial in partials:
        assert list(partial.words[: partial.stable_words]) == words[: partial.stable_words]


def test_the_callers_array_may_be_used_again(decoder, say):
    rows = say("一二")
    with decoder.stream() as stream:
        buffer = torch.empty(4, rows.shape[1])
        for piece in rows.split(4):
            stream.push(buffer.copy_(piece))
        assert stream.finish().words == decoder.decode(rows[None])[0].words


def test_boosts_are_the_streams_own(decoder, say):
    boosted, plain = decoder.stream(boosts=["九"]), decoder.stream()
    for stream in (boosted, plain):
        stream.push(say("一九二"))
    assert (boosted.finish().text, "九" in plain.finish().text) == ("一九二", False)


def test_a_stream_that_is_over_takes_nothing_more(decoder, say):
    finished, closed = decoder.stream(), decoder.stream()
    finished.push(say("一"))
    assert finished.finish().text == "一"
    closed.close()
    closed.close()
    for stream in (finished, closed):
        with pytest.raises(StreamClosed):
            stream.push(say("一"))
        with pytest.raises(StreamClosed):
            stream.finish()


def test_what_is_refused_leaves_the_stream_as_it_was(make_decoder, say):
    stream = make_decoder(max_frames=8).stream()
    stream.push(say("一"))
    for wrong in (say("一")[None], say("一") + 1.0, say("一")[:, 1:], say("一二三")):
        with pytest.raises(InvalidLogProbs):
            stream.push(wrong)
    assert stream.frames == 5
    assert stream.finish().text == "一"


def test_a_place_is_free_again_however_a_stream_ends(make_decoder, say):
    decoder = make_decoder(max_streams=1)
    decoder.stream().close()
    decoder.stream().finish()
    with decoder.stream() as stream, pytest.raises(InvalidLogProbs):
        stream.push(say("一")[None])
    stream = decoder.stream()
    with pytest.raises(EngineFull):
        decoder.stream()
    del stream  # without a word
    with pytest.raises(InvalidStreamConfig):
        decoder.stream(nbest=0)
    last = decoder.stream()
    assert last.push(say("五")).text == "五"


def test_a_stream_without_frames_says_nothing(decoder):
    result = decoder.stream().finish()
    assert (result.text, result.frames, result.confidence) == ("", 0, 0.0)
