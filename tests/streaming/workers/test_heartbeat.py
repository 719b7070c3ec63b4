"""What a worker's two threads tell by their counters."""

import multiprocessing

from earshot.streaming.workers.heartbeat import Heartbeat, Signs


def test_it_stands_still_before_the_first_turn():
    assert Heartbeat().read() == Signs(turns=0, taken=0, beats=0, busy=False)


def test_each_sign_is_counted_by_itself():
    heartbeat = Heartbeat()
    heartbeat.turn()
    heartbeat.took(3)
    heartbeat.took(2)
    for _ in range(4):
        heartbeat.beat()
    assert heartbeat.read() == Signs(turns=1, taken=5, beats=4, busy=True)


def test_an_engine_that_rests_is_not_busy():
    heartbeat = Heartbeat()
    heartbeat.beat()
    heartbeat.rest()
    assert heartbeat.read() == Signs(turns=0, taken=0, beats=1, busy=False)


def test_it_is_read_in_another_process_than_it_was_written():
    heartbeat = Heartbeat()
    worker = multiprocessing.get_context("fork").Process(target=heartbeat.beat)
    worker.start()
    worker.join()
    assert heartbeat.read().beats == 1
