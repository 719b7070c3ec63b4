"""Real speech through the real WeNet model: letter for letter, however it is streamed."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.decoder_kernels.graph.graph import Arc, Graph, units_checksum
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.events import Configured, Partial, UnboostablePhrase
from earshot.streaming.search.decoding_mode import WENET_MODES
from earshot.streaming.stream_config import (
    Boost,
    EndpointConfig,
    StreamConfig,
    StreamPriority,
)

TEXTS = {
    "aishell-BAC009S0724W0121.wav": "广州市房地产中介协会分析",
    "librispeech-1995-1837-0001.wav": (
        "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON"
        " ITSELF BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
    ),
}


@pytest.fixture(scope="module")
def wenet(golden_dir: Path) -> LoadedModel:
    return load_model(golden_dir / "u2pp_conformer")


@pytest.fixture(scope="module")
def recordings(golden_dir: Path) -> dict[str, np.ndarray]:
    """Each text's samples."""
    return {
        text: soundfile.read(golden_dir / "wavs" / name, dtype="float32")[0]
        for name, text in TEXTS.items()
    }


@pytest.mark.parametrize("left", [-1, 4])
@pytest.mark.parametrize("chunk_size", [16, 8, 4])
def test_both_recordings_come_out_in_every_mode(
    make_engine, wenet, recordings, sounds, chunk_size, left
):
    engine = make_engine(wenet, max_streams=8, chunk_size=chunk_size, num_left_chunks=left)
    for mode in engine.model.modes:
        for text, samples in recordings.items():
            heard = sounds.transcribe(engine, samples, StreamConfig(mode=mode))
            assert heard.text == text, mode
            words = heard.finals[0].alternatives[0].words
            assert all(0.3 < word.confidence <= 1.0 for word in words)


def split(text: str) -> list[str]:
    """The words of a text."""
    return text.split() if " " in text else list(text)


@pytest.fixture(scope="module")
def graph(wenet) -> Graph:
    """Any sequence of the texts' words: characters, or what `▁` separates."""
    begin, behind = 0, 1
    space = wenet.tokenizer.separator
    words, arcs, nodes = ["<eps>"], [Arc(behind, space + 1, 0, 0.0, begin)], 2
    for text in sorted({word for said in TEXTS.values() for word in split(said)}):
        tokens = wenet.tokenizer.encode(text)
        end = behind if text.isascii() else begin
        path = [begin, *range(nodes, nodes + len(tokens) - 1), end]
        nodes += len(tokens) - 1
        for at, token in enumerate(tokens):
            word, cost = (0, 0.0) if at else (len(words), 1.0)
            arcs.append(Arc(path[at], token + 1, word, cost, path[at + 1]))
        words.append(text)
    return Graph.from_arcs(
        arcs,
        {begin: 0.0, behind: 0.0},
        nodes,
        topology="normal",
        vocab_size=wenet.tokenizer.vocab_size,
        word_texts=words,
        units_checksum=units_checksum(wenet.tokenizer.units.symbols),
    )


def test_both_recordings_come_out_of_a_graph_in_company(
    make_engine, wenet, graph, recordings, sounds
):
    engine = make_engine(wenet, graph=graph, max_streams=8, chunk_size=8, max_wait_ms=100)
    asked = [
        (StreamConfig(mode=mode, endpoint=EndpointConfig(silence_ms=None)), text)
        for mode in ("attention_rescoring", "ctc_wfst_beam_search", "ctc_prefix_beam_search")
        for text in recordings
    ]
    listeners = [sounds.Listener() for _ in asked]
    opened = list(zip(asked, listeners, strict=True))
    streams = [(engine.open(config, heard), text) for (config, text), heard in opened]
    for stream, text in streams:
        sounds.push_all(stream, recordings[text])
        stream.finish()
    for (config, text), heard in opened:
        heard.wait_for_last()
        assert heard.text == text, config.mode
        words = heard.finals[0].alternatives[0].words
        assert all(0.3 < word.confidence <= 1.0 for word in words)
        ends = [time for word in words for time in (word.start_s, word.end_s)]
        assert ends == sorted(ends)
        for partial in heard.of(Partial):
            said = [word.text for word in partial.alternatives[0].words][: partial.stable_words]
            assert said == [word.text for word in words][: partial.stable_words]


@pytest.mark.parametrize("mode", sorted(set(WENET_MODES) - {"ctc_wfst_beam_search"}))
def test_company_changes_nothing(make_engine, wenet, recordings, sounds, mode):
    """Twenty streams join, leave, restart and wait at random; the two must not notice."""
    options = {"chunk_size": 8, "num_left_chunks": 4, "max_streams": 24, "max_batch": 7}
    alone = make_engine(wenet, **options)
    engine = make_engine(wenet, **options)
    random = np.random.default_rng(7)
    for text, samples in recordings.items():
        config = StreamConfig(mode=mode)
        by_itself = sounds.transcribe(alone, samples, config, priority=StreamPriority.LIVE)
        crowd = Crowd(engine, list(recordings.values()), random, sounds)
        listener = sounds.Listener()
        stream = engine.open(StreamConfig(mode=mode), listener)
        start = 0
        while start < len(samples):
            size = int(random.integers(1, 16000))
            stream.push(samples[start : start + size])
            start += size
            crowd.stir()
        stream.finish()
        crowd.stir()
        listener.wait_for_last()
        crowd.leave()
        assert listener.text == text
        assert told(listener) == told(by_itself)


class Crowd:
    """Streams that come and go."""

    def __init__(self, engine, recordings, random, sounds) -> None:
        self._engine = engine
        self._recordings = recordings
        self._random = random
        self._sounds = sounds
        self._streams = []
        for _ in range(20):
            self._join()

    def stir(self) -> None:
        """Some push, some flush, some leave and others take their slots."""
        for place, (stream, _) in enumerate(list(self._streams)):
            match int(self._random.integers(8)):
                case 0:
                    stream.finalize()
                case 1:
                    self.leave_one(place)
                    self._join()
                case 2 | 3:
                    samples = self._recordings[int(self._random.integers(2))]
                    start = int(self._random.integers(len(samples)))
                    size = min(int(self._random.integers(1, 24000)), int(16000 * stream.room_s))
                    stream.push(samples[start : start + size])

    def leave_one(self, place: int) -> None:
        stream, listener = self._streams.pop(place)
        stream.cancel()
        listener.wait_for_last()

    def leave(self) -> None:
        """All go."""
        while self._streams:
            self.leave_one(0)

    def _join(self) -> None:
        listener = self._sounds.Listener()
        priority = list(StreamPriority)[int(self._random.integers(2))]
        self._streams.insert(0, (self._engine.open(StreamConfig(), listener, priority), listener))


def told(heard) -> list:
    """Texts and times exactly, probabilities nearly: sums may round elsewhere."""
    return [
        [
            (event.start_s, event.duration_s, getattr(event, "stable_words", None)),
            [
                (word.text, word.start_s, word.end_s, pytest.approx(word.confidence, abs=1e-4))
                for word in event.alternatives[0].words
            ],
        ]
        for event in heard.events
        if hasattr(event, "alternatives")
    ]


@pytest.mark.parametrize("mode", ["attention_rescoring", "ctc_prefix_beam_search"])
def test_alternatives_differ_and_are_sorted(make_engine, wenet, recordings, sounds, mode):
    engine = make_engine(wenet, chunk_size=16)
    samples = next(iter(recordings.values()))
    heard = sounds.transcribe(engine, samples, StreamConfig(mode=mode, alternatives=5))
    alternatives = heard.finals[0].alternatives
    assert len({alternative.text for alternative in alternatives}) == len(alternatives) == 5
    scores = [alternative.score for alternative in alternatives]
    assert scores == sorted(scores, reverse=True)


def test_recordings_in_one_stream_are_finals_of_their_own(make_engine, wenet, recordings, sounds):
    """Nothing of a segment reaches the next one, second pass included."""
    engine = make_engine(wenet, chunk_size=16, num_left_chunks=4, max_backlog_s=60)
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(), listener)
    chinese, english = recordings.items()
    parts = [chinese, english, english, chinese]
    for _, samples in parts:
        sounds.push_all(stream, samples)
        stream.finalize()
    stream.finish()
    listener.wait_for_last()
    assert [f.alternatives[0].text for f in listener.finals] == [text for text, _ in parts] + [""]


def test_a_boosted_word_survives_rescoring(make_engine, wenet, recordings, sounds):
    """The second pass sees the boost: what wins in the partial is not lost in the final."""
    engine = make_engine(wenet, chunk_size=16)
    text, samples = list(recordings.items())[1]
    plain = sounds.transcribe(engine, samples, StreamConfig())
    rival = text.replace("COTTON ITSELF", "cotto itself")
    boosted = StreamConfig(boosts=(Boost("cotto itself", 8.0),), weights={"ctc": 1.0})
    heard = sounds.transcribe(engine, samples, boosted)
    assert plain.text == text
    assert heard.of(Partial)[-1].alternatives[0].text.startswith(rival[:80])
    assert heard.text == rival
    assert [w.text for w in heard.finals[0].alternatives[0].words if w.boosted] == [
        "cotto",
        "itself",
    ]


def test_phrases_that_cannot_be_boosted_are_named(make_engine, wenet, recordings, sounds):
    engine = make_engine(wenet, chunk_size=16)
    listener = sounds.Listener()
    stream = engine.open(StreamConfig(boosts=(Boost("quiz ☕"), Boost("cotton"))), listener)
    [warning] = [listener.wait_for(lambda event: isinstance(event, UnboostablePhrase))]
    assert warning.phrase == "quiz ☕"
    assert "☕" in warning.reason
    stream.configure([Boost("hopes", 1.0), Boost("")])
    answer = listener.wait_for(lambda event: isinstance(event, Configured))
    assert [warning.phrase for warning in answer.warnings] == [""]
    stream.cancel()
    listener.wait_for_last()


def test_boosts_given_while_speaking_hold_for_the_sentence_begun(
    make_engine, wenet, recordings, sounds
):
    engine = make_engine(wenet, chunk_size=16)
    text, samples = list(recordings.items())[1]
    config = StreamConfig(weights={"ctc": 1.0})
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    cut = round(len(samples) * 0.75)
    sounds.push_all(stream, samples[:cut])
    listener.wait_for(lambda e: isinstance(e, Partial) and "ITSELF" in e.alternatives[0].text)
    stream.configure([Boost("cotto itself", 8.0)])
    sounds.push_all(stream, samples[cut:])
    stream.finish()
    listener.wait_for_last()
    assert listener.text == text.replace("COTTON ITSELF", "cotto itself")
