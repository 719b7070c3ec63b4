"""Boosts of NeMo's transducers, on clips that NeMo encoded itself."""

from __future__ import annotations

import pytest
from boost_walk import BoostWalk
from nemo_golden import GoldenReader, NemoGolden
from network_head import NetworkHead
from oracles import NO_BOOSTS, frame_looping

from earshot.decoder_kernels.boosting.boost import TOKEN_LIMIT
from earshot.streaming.boosting.boosting import compile_boosts
from earshot.streaming.events import UnboostablePhrase
from earshot.streaming.stream_config import Boost, EndpointConfig, StreamConfig

WHOLE = EndpointConfig(silence_ms=None, no_speech_ms=60_000)
BOOSTS = (Boost("loops", 20.0), Boost("quick brown fox", 2.0), Boost("the", 1.5), Boost("he", -3.0))


@pytest.fixture(params=["rnnt_offline", "tdt_offline"])
def golden(nemo_golden: GoldenReader, request: pytest.FixtureRequest) -> NemoGolden:
    return nemo_golden(request.param)


def plain(golden: NemoGolden, boosts: BoostWalk) -> list[str]:
    """What the plain loop finds in each clip."""
    head = golden.model.transducer
    cap = head.config.max_symbols
    found = (
        frame_looping(NetworkHead(head), head.hear(row), cap, boosts=boosts)[0]
        for row in golden.rows("encoded")
    )
    return [golden.loaded.tokenizer.decode(each.tokens) for each in found]


def test_boosts_are_those_of_the_plain_loop(make_engine, golden: NemoGolden, sounds) -> None:
    table = BoostWalk(compile_boosts(BOOSTS, golden.loaded.tokenizer).table)
    expected = plain(golden, table)
    assert expected != plain(golden, NO_BOOSTS)
    engine = make_engine(golden.loaded, max_streams=1)
    config = StreamConfig(endpoint=WHOLE, boosts=BOOSTS)
    heard = [sounds.transcribe(engine, samples.numpy(), config) for samples in golden.audio]
    assert [each.text for each in heard] == expected
    assert not any(each.of(UnboostablePhrase) for each in heard)


def test_what_a_boost_may_earn_is_told(make_engine, golden: NemoGolden) -> None:
    assert make_engine(golden.loaded, max_streams=1).model.most_earned == TOKEN_LIMIT
