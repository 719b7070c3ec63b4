"""NeMo's models by a beam, through the engine: alternatives with words, times, confidences."""

from __future__ import annotations

from typing import Any

import pytest
from nemo_golden import GoldenReader

from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.events import Final
from earshot.streaming.stream_config import EndpointConfig, StreamConfig

WHOLE = EndpointConfig(silence_ms=None, no_speech_ms=60_000)
BEAM = StreamConfig(mode="transducer_beam_search", endpoint=WHOLE, alternatives=4)


@pytest.mark.parametrize("name", ["rnnt_streaming", "hybrid_tdt_ctc"])
def test_alternatives_have_words_with_times_and_confidences(
    make_engine: Any, nemo_golden: GoldenReader, sounds: Any, name: str
) -> None:
    golden = nemo_golden(name)
    engine = make_engine(golden.loaded, max_streams=2)
    heard = sounds.transcribe(engine, golden.audio[0].numpy(), BEAM)
    [final] = [event for event in heard.events if isinstance(event, Final)]
    texts = [each.text for each in final.alternatives]
    assert len(texts) == len(set(texts)) > 1
    for each in final.alternatives:
        assert each.words
        assert all(0.0 <= word.confidence <= 1.0 for word in each.words)
        starts = [word.start_s for word in each.words]
        assert starts == sorted(starts)
        assert all(word.end_s >= word.start_s for word in each.words)


def test_a_beam_of_one_tells_what_greedy_decoding_does(
    make_engine: Any, nemo_golden: GoldenReader, sounds: Any
) -> None:
    golden = nemo_golden("rnnt_streaming")
    engine = make_engine(golden.loaded, max_streams=2, options={"transducer_beam": 1})
    greedy = StreamConfig(mode="transducer_greedy_search", endpoint=WHOLE)
    one, other = (
        sounds.transcribe(engine, golden.audio[0].numpy(), config).text for config in (BEAM, greedy)
    )
    assert one == other != ""


def test_a_beam_without_a_transducer_is_refused(
    make_engine: Any, nemo_golden: GoldenReader
) -> None:
    with pytest.raises(InvalidEngineConfig, match="no transducer"):
        make_engine(nemo_golden("ctc_offline").loaded, options={"transducer_beam": 4})
