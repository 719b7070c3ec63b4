from earshot.service.deepgram.channel_states import ChannelStates
from earshot.streaming.errors import DecodingFailed
from earshot.streaming.events import Configured, NotConfigured

BROKEN = DecodingFailed("broken")
DONE = Configured(())


def test_the_last_to_close_ends_it_and_the_longest_counts():
    channels = ChannelStates(3)
    assert [channels.closed(0, 2.0), channels.closed(2, 5.0), channels.closed(1, 1.0)] == [
        False,
        False,
        True,
    ]
    assert (channels.duration_s, channels.lost, channels.all_failed) == (5.0, None, False)


def test_one_failure_is_not_the_end():
    channels = ChannelStates(2)
    channels.failed(1, BROKEN)
    assert (channels.lost, channels.all_over) == (BROKEN, False)
    assert channels.closed(0, 1.0)
    assert not channels.all_failed


def test_all_failed_when_none_closed_well():
    channels = ChannelStates(2)
    channels.failed(0, BROKEN)
    channels.failed(1, DecodingFailed("later"))
    assert channels.all_failed
    assert channels.lost is BROKEN


def test_a_configure_is_done_when_all_have_done_it():
    channels = ChannelStates(3)
    channels.ask()
    assert [channels.answered(channel, DONE) for channel in (2, 0, 1)] == [None, None, DONE]


def test_who_fails_owes_no_answer():
    channels = ChannelStates(2)
    channels.ask()
    refused = NotConfigured("no graph")
    assert channels.answered(0, refused) is None
    assert channels.failed(1, BROKEN) is refused
    channels.ask()
    assert channels.answered(0, DONE) is DONE


def test_a_failure_long_after_the_answers_answers_nothing():
    channels = ChannelStates(2)
    channels.ask()
    for channel in (0, 1):
        channels.answered(channel, DONE)
    assert channels.failed(1, BROKEN) is None
