"""The pace at which one client's messages are read."""

import pytest

from earshot.service.http.read_pace import (
    AUDIO_CHARACTER_S,
    BURST_S,
    MESSAGE_S,
    MOST_S,
    PIECE_S,
    ReadPace,
)


def read(pace: ReadPace, messages: list[bytes | str], every_s: float) -> float:
    """Read messages that are sent at a steady rate; return how long all waits together are."""
    now_s = waited_s = 0.0
    for message in messages:
        delay_s = pace.delay_s(message, now_s)
        waited_s += delay_s
        now_s += max(delay_s, every_s)
    return waited_s


def test_live_audio_in_pieces_of_ten_milliseconds_never_waits() -> None:
    assert read(ReadPace(), [bytes(320)] * 6000, every_s=0.01) == 0.0


@pytest.mark.parametrize("message", [b"a", '{"type":"KeepAlive"}', "garbage"])
def test_a_storm_is_read_at_no_more_than_a_thousand_a_second(message: bytes | str) -> None:
    waited_s = read(ReadPace(), [message] * 5000, every_s=0.0)
    assert waited_s >= 5000 * MESSAGE_S - BURST_S


def test_pieces_of_messages_are_read_faster_than_messages_and_not_without_bound() -> None:
    pace = ReadPace()
    delay_s = [pace.piece_delay_s(0.0) for _ in range(5000)][-1]
    assert BURST_S < delay_s == pytest.approx(5000 * PIECE_S)
    assert PIECE_S < MESSAGE_S


def test_a_burst_is_read_at_once() -> None:
    assert read(ReadPace(), [b"a"] * 40, every_s=0.0) == 0.0


def test_a_long_configure_costs_its_length() -> None:
    short, long = ReadPace(), ReadPace()
    assert short.delay_s('{"type":"Configure","keyterms":["iced latte"]}', 0.0) == 0.0
    assert long.delay_s('{"type":"Configure","keyterms":["' + "x" * 20_000 + '"]}', 0.0) > 0.2


def test_no_single_message_stops_the_reading_for_long() -> None:
    assert ReadPace().delay_s("x" * (1 << 20), 0.0) <= MOST_S


def test_a_quiet_client_saves_up_no_more_than_a_burst() -> None:
    pace = ReadPace()
    pace.delay_s(b"a", 0.0)
    delays = [pace.delay_s(b"a", 3600.0) for _ in range(100)]
    assert max(delays) > 0.0


def test_audio_in_base64_is_read_as_it_comes():
    pace, message = ReadPace(AUDIO_CHARACTER_S), "x" * (24_000 * 2 * 4 // 3 // 10)
    assert not any(pace.delay_s(message, at / 10) for at in range(100))
    assert ReadPace().delay_s(message * 10, 0.0) > 0.0
