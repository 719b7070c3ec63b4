"""NeMo's own models, from samples in to finals out: what they say of whole clips."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from nemo_golden import GoldenReader, NemoGolden
from network_head import NetworkHead
from oracles import Found, frame_looping
from torch import Tensor

from earshot.models.fastconformer.config import AttentionContext
from earshot.streaming.events import Word
from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

LEFT = 14
CHUNKS_MS = {0: 80, 1: 160, 6: 560}
"""By the right context."""
NEVER = EndpointConfig(silence_ms=None, no_speech_ms=20_000)
ONE_WINDOW = ("tdt_offline", "rnnt_offline", "conformer_rnnt_striding4", "hybrid_tdt_ctc")
CTC = ("ctc_offline", "hybrid_tdt_ctc", "conformer_ctc_striding4")


@pytest.fixture
def streaming(nemo_golden: GoldenReader) -> NemoGolden:
    return nemo_golden("rnnt_streaming")


def clips(golden: NemoGolden) -> list[np.ndarray]:
    return [clip.numpy() for clip in golden.audio]


@torch.inference_mode()
def offline(golden: NemoGolden, clip: Tensor, right: int | None) -> Found:
    """Labels of a whole clip in a context, None the only one."""
    features = golden.model.features(clip)[None]
    context = None if right is None else AttentionContext(LEFT, right)
    encoded, _ = golden.model.encode(features, torch.tensor([features.size(1)]), context)
    head = golden.model.transducer
    return frame_looping(NetworkHead(head), head.hear(encoded[0]), head.config.max_symbols)[0]


def heard(make_engine, together, golden: NemoGolden, config: StreamConfig, **options) -> list:
    engine = make_engine(golden.loaded, max_streams=len(golden.audio), max_file_lanes=4)
    return together(engine, clips(golden), [config] * len(golden.audio), **options)


@pytest.mark.parametrize("right", CHUNKS_MS)
def test_streams_say_what_whole_clips_say_in_the_same_context(
    make_engine, together, heard_tokens, streaming: NemoGolden, right: int
) -> None:
    config = StreamConfig(chunk_ms=CHUNKS_MS[right], endpoint=NEVER)
    listeners = heard(make_engine, together, streaming, config)
    for slot, (clip, listener) in enumerate(zip(streaming.audio, listeners, strict=True)):
        expected = offline(streaming, clip, right).tokens
        assert expected
        assert heard_tokens[slot] == expected
        assert listener.text == streaming.loaded.tokenizer.decode(expected)


def test_contexts_differ_in_what_they_say(streaming: NemoGolden) -> None:
    said = [tuple(offline(streaming, streaming.audio[0], right).tokens) for right in CHUNKS_MS]
    assert len(set(said)) == len(said)


def test_streams_of_all_contexts_share_steps(
    make_engine, together, heard_tokens, streaming: NemoGolden
) -> None:
    rights = [*CHUNKS_MS, 6]
    configs = [StreamConfig(chunk_ms=CHUNKS_MS[right], endpoint=NEVER) for right in rights]
    engine = make_engine(streaming.loaded, max_streams=len(configs))
    together(engine, clips(streaming), configs)
    found = [heard_tokens[slot] for slot in range(len(configs))]
    audio = streaming.audio
    assert found == [offline(streaming, *each).tokens for each in zip(audio, rights, strict=True)]


@pytest.mark.parametrize("right", CHUNKS_MS)
def test_words_are_told_where_their_frames_were(
    make_engine, together, streaming: NemoGolden, right: int
) -> None:
    config = StreamConfig(chunk_ms=CHUNKS_MS[right], endpoint=NEVER)
    listeners = heard(make_engine, together, streaming, config)
    assert_times(streaming, listeners, right, 0.08)


@pytest.mark.parametrize(
    ("name", "frame_s"),
    [("tdt_offline", 0.08), ("hybrid_tdt_ctc", 0.08), ("conformer_rnnt_striding4", 0.04)],
)
def test_words_heard_in_windows_are_told_where_their_frames_were(
    make_engine, together, nemo_golden: GoldenReader, name: str, frame_s: float
) -> None:
    golden, config = nemo_golden(name), StreamConfig(endpoint=NEVER)
    listeners = heard(make_engine, together, golden, config, priority=StreamPriority.FILE)
    assert_times(golden, listeners, None, frame_s)


def assert_times(golden: NemoGolden, listeners: list, right: int | None, frame_s: float) -> None:
    """Of all words that share no frame with another; there must be some."""
    checked = 0
    for clip, listener in zip(golden.audio, listeners, strict=True):
        [final] = listener.finals
        words = list(final.alternatives[0].words)
        for word, *span in words_without_neighbours(golden, offline(golden, clip, right), words):
            start_s, end_s = np.minimum(np.multiply(span, frame_s), len(clip) / 16_000)
            assert (word.start_s, word.end_s) == pytest.approx((start_s, end_s))
            checked += 1
    assert checked


def words_without_neighbours(
    golden: NemoGolden, found: Found, words: list[Word]
) -> Iterator[tuple[Word, int, int]]:
    """Words that share no frame with tokens of another: their first frame, and that after them."""
    spans = golden.loaded.tokenizer.word_spans(found.tokens)
    assert [text for text, _, _ in spans] == [word.text for word in words]
    for word, (_, first, stop) in zip(words, spans, strict=True):
        start, last = found.frames[first], found.frames[stop - 1]
        others = found.frames[:first] + found.frames[stop:]
        if start not in others and last not in others:
            yield word, start, last + max([1, *found.durations[stop - 1 : stop]])


@pytest.mark.parametrize("name", ONE_WINDOW)
def test_files_within_one_window_say_what_nemo_says(
    make_engine, together, heard_tokens, nemo_golden: GoldenReader, name: str
) -> None:
    golden = nemo_golden(name)
    listeners = heard(
        make_engine, together, golden, StreamConfig(endpoint=NEVER), priority=StreamPriority.FILE
    )
    wanted = golden.decoded["greedy"]["max_symbols_10"]["reference_single"]
    assert [heard_tokens[slot] for slot in range(4)] == [each["tokens"] for each in wanted]
    decode = golden.loaded.tokenizer.decode
    assert [each.text for each in listeners] == [decode(each["tokens"]) for each in wanted]


@pytest.mark.parametrize("name", CTC)
def test_the_ctc_head_says_what_nemos_says(
    make_engine, together, heard_tokens, nemo_golden: GoldenReader, name: str
) -> None:
    golden = nemo_golden(name)
    config = StreamConfig(mode="ctc_greedy_search", endpoint=NEVER)
    heard(make_engine, together, golden, config, priority=StreamPriority.FILE)
    wanted, clear = golden.decoded["ctc_greedy"], clearly_won(golden)
    assert len(clear) >= 3
    assert [heard_tokens[slot] for slot in clear] == [wanted[slot]["tokens"] for slot in clear]


def clearly_won(golden: NemoGolden) -> list[int]:
    """The clips in which no frame's best unit is chosen by rounding."""
    lengths = golden.arrays["encoded_lengths"].tolist()
    rows = zip(golden.arrays["ctc_log_probs"], lengths, strict=True)
    first, second = zip(*(row[:length].topk(2).values.T for row, length in rows), strict=True)
    return [slot for slot in range(4) if bool((first[slot] - second[slot] > 1e-3).all())]
