"""Counters of an engine, read by another process."""

import multiprocessing

from earshot.streaming.engine.engine_stats import Counters
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.workers.shared_counters import SharedCounters

COUNTED = Counters(
    steps=3,
    lanes=7,
    audio_s=1.28,
    partials=2,
    finals=1,
    failed_streams=4,
    kept_slots=5,
    second_pass_failures=6,
    search=SearchCounts(8, 9, 10, 11, 12),
)


def test_before_anything_is_counted_all_are_zero():
    assert SharedCounters().read() == Counters()


def test_what_a_forked_process_counts_is_read_as_it_was_written():
    shared = SharedCounters()
    writer = multiprocessing.get_context("fork").Process(target=shared.write, args=(COUNTED,))
    writer.start()
    writer.join()
    assert shared.read() == COUNTED
    assert repr(shared.read()) == repr(COUNTED)
