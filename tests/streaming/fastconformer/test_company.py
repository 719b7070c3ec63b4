"""A transducer's stream tells the same in any company, to the bit: nothing of it is torch's."""

from __future__ import annotations

import pytest
from random_nemo import babble, random_nemo

from earshot.streaming.stream_config import EndpointConfig, StreamConfig, StreamPriority

CLIPS = [
    babble(seconds, seed, pause_s)
    for seconds, seed, pause_s in ((4.5, 3, 0.5), (3.1, 22, 0.02), (0.9, 37, 0.02), (5.2, 5, 0.4))
]
ENDPOINT = EndpointConfig(silence_ms=300, no_speech_ms=1000, max_utterance_ms=2000)
KINDS = ("chunks, rnnt", "chunks, tdt and ctc", "windows, tdt", "windows, rnnt and ctc")


@pytest.mark.parametrize("priority", list(StreamPriority))
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_tells_alone_what_it_tells_in_company(
    make_engine, together, kind: str, priority: StreamPriority
) -> None:
    engine = make_engine(random_nemo(kind), max_streams=len(CLIPS))
    sizes = engine.model.chunks_ms
    configs = [
        StreamConfig("transducer_greedy_search", endpoint=ENDPOINT, chunk_ms=sizes[i % len(sizes)])
        for i in range(len(CLIPS))
    ]
    company = together(engine, CLIPS, configs, priority)
    for clip, config, listener in zip(CLIPS, configs, company, strict=True):
        [alone] = together(engine, [clip], [config], priority)
        assert alone.events == listener.events
    assert any(listener.finals for listener in company)
