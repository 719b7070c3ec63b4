"""Segment boundaries: where segments end, and that no word is lost, doubled or changed there."""

import itertools

import numpy as np
import pytest

from earshot.streaming.events import Final, Partial, SpeechStarted, UtteranceEnd
from earshot.streaming.search.token_searches import PrefixBeamDecoder
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

CTC_MODES = ["ctc_prefix_beam_search", "ctc_greedy_search"]


def config(mode="ctc_prefix_beam_search", **endpoint) -> StreamConfig:
    return StreamConfig(mode=mode, endpoint=EndpointConfig(**endpoint))


def words_of(heard, shift_s=0.0):
    return [
        (word.text, round(word.start_s + shift_s, 3), round(word.end_s + shift_s, 3))
        for final in heard.finals
        for word in final.alternatives[0].words
    ]


def pieces(samples, finals, rate_hz):
    """The audio cut at the boundaries, and where each piece starts."""
    starts = [round(final.start_s * rate_hz) for final in finals]
    return [(samples[a:b], a / rate_hz) for a, b in itertools.pairwise([*starts, len(samples)])]


@pytest.mark.parametrize("mode", CTC_MODES)
def test_a_pause_ends_a_segment_and_the_next_one_goes_on(tone_engine, sounds, mode):
    heard = sounds.transcribe(tone_engine, sounds.speech("一二三_四五"), config(mode))
    assert [final.alternatives[0].text for final in heard.finals] == ["一二三", "四五"]
    assert [final.cause for final in heard.finals] == ["endpoint", "end"]
    assert all(final.speech_final for final in heard.finals)


@pytest.mark.parametrize("mode", CTC_MODES)
@pytest.mark.parametrize("chunk_size", [4, 16])
def test_speech_without_a_pause_is_cut_between_words(
    make_engine, tone_model, sounds, mode, chunk_size
):
    engine = make_engine(tone_model, chunk_size=chunk_size, num_left_chunks=2)
    text = "一二三四五六七八九" * 4
    heard = sounds.transcribe(
        engine, sounds.speech(text), config(mode, silence_ms=None, max_utterance_ms=3000)
    )
    assert heard.text == text
    assert [final.cause for final in heard.finals[:-1]] == ["max_utterance"] * 4
    assert not any(final.speech_final for final in heard.finals[:-1])


@pytest.mark.parametrize("mode", CTC_MODES)
def test_silence_behind_a_cut_ends_the_utterance_once(tone_engine, sounds, mode):
    wanted = config(mode, silence_ms=None, no_speech_ms=2000, max_utterance_ms=2500)
    heard = sounds.transcribe(tone_engine, sounds.speech("一二三____"), wanted)
    told = [(final.alternatives[0].text, final.speech_final) for final in heard.finals]
    assert told[:2] == [("一二三", False), ("", True)]
    assert [final.cause for final in heard.finals] == ["max_utterance", "endpoint", "end"]


@pytest.mark.parametrize("mode", CTC_MODES)
def test_the_text_is_that_of_the_audio_cut_at_the_seams(tone_engine, sounds, mode):
    text = "一二 三四五_六七八九一二三四五六七八九 一二__三"
    samples = sounds.speech(text)
    wanted = config(mode, silence_ms=400, max_utterance_ms=4000)
    heard = sounds.transcribe(tone_engine, samples, wanted)
    assert len(heard.finals) > 5
    apart = []
    for piece, start_s in pieces(samples, heard.finals, sounds.rate_hz):
        alone = sounds.transcribe(tone_engine, piece, wanted)
        apart += words_of(alone, start_s)
    # Beside a boundary the cut audio ends earlier: a last token's best frame may be one frame off.
    assert [word for word, _, _ in apart] == [word for word, _, _ in words_of(heard)]
    times = [(start, end) for _, start, end in words_of(heard)]
    np.testing.assert_allclose([(start, end) for _, start, end in apart], times, atol=0.041)
    assert heard.text == text.replace(" ", "").replace("_", "")


def test_times_go_on_across_seams_and_never_overlap(tone_engine, sounds):
    text = "一二三_四五六七八九一二三四五六七八九_一"
    heard = sounds.transcribe(tone_engine, sounds.speech(text), config(max_utterance_ms=3000))
    times = [time for _, start, end in words_of(heard) for time in (start, end)]
    assert times == sorted(times)
    spans = [(f.start_s, f.start_s + f.duration_s) for f in heard.finals]
    assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(spans))
    assert spans[-1][1] == pytest.approx(len(sounds.speech(text)) / sounds.rate_hz)


def test_words_are_placed_where_they_were_said(tone_engine, sounds):
    heard = sounds.transcribe(tone_engine, sounds.speech("一_二"), config("ctc_greedy_search"))
    (_, _, first_end), (_, _, second_end) = words_of(heard)
    assert 0.08 <= first_end <= 0.28  # the first tone sounds from 0.08 to 0.24 s
    assert 2.40 <= second_end <= 2.60  # the second one from 2.40 to 2.56 s


def test_silence_restarts_without_a_final(tone_engine, sounds):
    heard = sounds.transcribe(tone_engine, sounds.speech("______一"), config(no_speech_ms=1000))
    assert [final.alternatives[0].text for final in heard.finals] == ["一"]
    assert heard.finals[0].start_s > 9


def test_cutting_the_pushes_elsewhere_changes_nothing(tone_engine, sounds):
    samples = sounds.speech("一二三_四五 六七")
    whole = sounds.transcribe(tone_engine, samples, config(silence_ms=400))
    for seed in range(3):
        sizes = np.random.default_rng(seed).integers(0, 3000, size=1000)
        cut = sounds.transcribe(tone_engine, samples, config(silence_ms=400), iter(sizes))
        assert cut.events == whole.events


def test_partials_grow_and_keep_what_was_stable(tone_engine, sounds):
    heard = sounds.transcribe(tone_engine, sounds.speech("一二三四五六七"), config())
    partials = heard.of(Partial)
    assert len(partials) >= 5
    final_words = [word.text for word in heard.finals[0].alternatives[0].words]
    for partial in partials:
        stable = [word.text for word in partial.alternatives[0].words][: partial.stable_words]
        assert stable == final_words[: partial.stable_words]
    assert partials[-1].stable_words > 0


def test_no_partials_where_none_were_asked_for(tone_engine, sounds):
    quiet = StreamConfig(mode="ctc_greedy_search", interim_results=False)
    heard = sounds.transcribe(tone_engine, sounds.speech("一二三"), quiet)
    assert heard.of(Partial) == []
    assert heard.text == "一二三"


def test_speech_started_and_utterance_end_frame_each_utterance(tone_engine, sounds):
    wanted = StreamConfig(mode="ctc_greedy_search", vad_events=True, utterance_end_ms=1000)
    heard = sounds.transcribe(tone_engine, sounds.speech("一二_三"), wanted)
    kinds = [type(e).__name__ for e in heard.events if not isinstance(e, Partial)]
    utterance = ["SpeechStarted", "Final", "UtteranceEnd"]
    assert kinds == [*utterance, *utterance, "Closed"]
    [final, *_] = heard.finals
    told = heard.events.index(heard.of(UtteranceEnd)[0])
    assert told == heard.events.index(final) + 1  # at once, not a chunk later
    ends = [event.last_word_end_s for event in heard.of(UtteranceEnd)]
    assert ends == [final.alternatives[0].words[-1].end_s for final in heard.finals]
    assert [event.time_s for event in heard.of(SpeechStarted)] == pytest.approx(
        [0.08, 2.72], abs=0.09
    )


def test_words_told_as_stable_stay_where_a_cut_is_searched_otherwise(
    make_engine, tone_model, sounds, monkeypatch
):
    def forget(self, stream, encoded):
        rewind(self, stream, None)

    rewind = PrefixBeamDecoder.rewind
    monkeypatch.setattr(PrefixBeamDecoder, "rewind", forget)
    engine = make_engine(tone_model, chunk_size=4, num_left_chunks=2)
    wanted = config(silence_ms=None, max_utterance_ms=3000)
    heard = sounds.transcribe(engine, sounds.speech("一二三四五六七八九" * 3), wanted)
    first = next(at for at, event in enumerate(heard.events) if isinstance(event, Final))
    told = [event for event in heard.events[:first] if isinstance(event, Partial)][-1]
    stable = [word.text for word in told.alternatives[0].words][: told.stable_words]
    final = heard.events[first]
    assert stable
    assert [word.text for word in final.alternatives[0].words][: len(stable)] == stable
