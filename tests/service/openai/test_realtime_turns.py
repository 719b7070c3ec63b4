"""Turns of a realtime session, without a socket: which event is of which item."""

from typing import Any

import pytest

from earshot.service.openai.realtime_events import RealtimeEvents
from earshot.service.openai.realtime_turns import RealtimeTurns
from earshot.service.sessions.actions import Send
from earshot.service.writing import AS_HEARD
from earshot.streaming.events import Alternative, Final, FinalCause, Partial, Word


def reading(text: str) -> tuple[Alternative, ...]:
    words = tuple(Word(each, at / 2, at / 2 + 0.5, 0.9) for at, each in enumerate(text.split()))
    return (Alternative(text, words, 0.9, -1.0),) if text else ()


def partial(text: str, stable: int) -> Partial:
    return Partial(0.0, 1.0, reading(text), stable)


def final(text: str, cause: FinalCause = "endpoint") -> Final:
    is_asked = cause == "finalize"
    return Final(0.0, 1.0, reading(text), True, is_asked, cause)


@pytest.fixture
def turns() -> RealtimeTurns:
    return RealtimeTurns(RealtimeEvents("session"), AS_HEARD)


def told(actions: list[Any]) -> list[tuple[str, str | None, str | None]]:
    """Kind, item and text of each event."""
    assert all(isinstance(action, Send) for action in actions)
    events = [action.message.body for action in actions]
    return [
        (
            event["type"].rpartition(".")[2],
            event.get("item_id", "item_session_0")[-1],
            event.get("delta", event.get("transcript")),
        )
        for event in events
        if "item" not in event
    ]


def test_a_turn_begins_when_speech_does(turns: RealtimeTurns) -> None:
    assert told(turns.started(1.25)) == [("speech_started", "1", None)]
    assert turns.started(1.5) == []
    assert told(turns.final(final("tea"))) == [
        ("speech_stopped", "1", None),
        ("committed", "1", None),
        ("delta", "1", "tea"),
        ("completed", "1", "tea"),
    ]


def test_stable_words_are_told_once(turns: RealtimeTurns) -> None:
    assert turns.partial(partial("iced", 0)) == []
    assert told(turns.partial(partial("iced tea", 1))) == [("delta", "1", "iced")]
    assert turns.partial(partial("iced tea please", 1)) == []
    assert told(turns.partial(partial("iced tea please", 2))) == [("delta", "1", " tea")]
    assert told(turns.final(final("iced tea please")))[-1] == (
        "completed",
        "1",
        "iced tea please",
    )


def test_a_text_that_has_become_another_is_told_whole_alone(turns: RealtimeTurns) -> None:
    turns.partial(partial("iced tea", 2))
    kinds = [kind for kind, _, _ in told(turns.final(final("I said tea")))]
    assert kinds == ["speech_stopped", "committed", "completed"]


def test_two_commits_are_two_items(turns: RealtimeTurns) -> None:
    committed = [*told(turns.commit()), *told(turns.commit())]
    assert committed == [("committed", "1", None), ("committed", "2", None)]
    assert told(turns.final(final("one", "finalize")))[-1] == ("completed", "1", "one")
    assert told(turns.final(final("two", "finalize")))[-1] == ("completed", "2", "two")


def test_a_pause_before_a_commit_is_done_ends_no_turn(turns: RealtimeTurns) -> None:
    turns.commit()
    assert told(turns.final(final("one"))) == [("delta", "1", "one")]
    assert told(turns.partial(partial("two three", 1))) == [("delta", "1", " two")]
    assert told(turns.final(final("two three", "finalize"))) == [
        ("delta", "1", " three"),
        ("completed", "1", "one two three"),
    ]


def test_a_commit_without_words_has_an_empty_text(turns: RealtimeTurns) -> None:
    turns.commit()
    assert told(turns.final(final("", "finalize"))) == [("completed", "1", "")]


def test_a_clear_behind_a_commit_leaves_the_committed_text(turns: RealtimeTurns) -> None:
    turns.commit()
    turns.clear()
    assert told(turns.final(final("one", "finalize")))[-1] == ("completed", "1", "one")
    assert turns.final(final("two", "finalize")) == []
    assert told(turns.final(final("three")))[-1] == ("completed", "3", "three")


def test_nothing_behind_a_clear_is_told_until_it_is_done(turns: RealtimeTurns) -> None:
    turns.clear()
    assert turns.started(1.0) == []
    assert turns.partial(partial("one two", 1)) == []
    assert turns.final(final("one")) == []
    assert turns.final(final("two", "finalize")) == []
    assert told(turns.started(2.0)) == [("speech_started", "2", None)]
