"""Requests that arrive when their stream is over."""

import threading

from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.requests import Cancel, Configure
from earshot.streaming.stream.sample_count import SampleCount
from earshot.streaming.stream_config import Boost, StreamConfig, StreamPriority
from earshot.streaming.stream_name import NAMELESS


def test_boosts_of_a_stream_that_is_over_are_not_compiled(tone_engine, sounds):
    compiler, listener = tone_engine._compiler, sounds.Listener()
    compiled, go_on = [], threading.Event()

    def compile_boosts(boosts, config):
        go_on.wait(60)
        compiled.append(boosts)
        return NO_BOOSTS

    compiler._compile = compile_boosts
    config, first, late = StreamConfig(), (Boost("一"),), (Boost("二"),)
    intake = tone_engine.admit(config, listener, StreamPriority.LIVE, NAMELESS, SampleCount())
    intake.take(Cancel())
    listener.wait_for_last()
    busy = compiler.submit(first, config)
    intake.take(Configure(late))
    go_on.set()
    busy.result(60)
    compiler.submit((Boost("三"),), config).result(60)
    assert late not in compiled
    assert compiled[0] == first
