"""The turns of a realtime session: what the engine hears, as items of a conversation."""

from collections import deque
from dataclasses import dataclass, field

from earshot.service.best_reading import best_text, spoken_s
from earshot.service.openai.realtime_events import RealtimeEvents
from earshot.service.sessions.actions import Action, Send
from earshot.service.writing import Writing
from earshot.streaming.events import Final, Partial


@dataclass
class _Turn:
    """A turn of which the client knows.

    said: texts of pauses before its end. told: its text so far, in deltas.
    """

    item_id: str
    said: tuple[str, ...] = ()
    said_s: float = 0.0
    told: str = ""
    is_dropped: bool = False

    @property
    def text(self) -> str:
        """All that is final of it."""
        return " ".join(self.said)


@dataclass
class RealtimeTurns:
    """Tells each turn once: when it begins, its stable words as they come, and its whole text.

    What the client has ended, by a commit or a clear, waits for its final in `_ending`; until that
    comes, what the engine says is still of the first of these.
    """

    events: RealtimeEvents
    writing: Writing
    _turn: _Turn | None = None
    _ending: deque[_Turn] = field(default_factory=deque)
    _last: str | None = None
    _count: int = 0

    def started(self, time_s: float) -> list[Action]:
        """Somebody has begun to speak."""
        if self._turn is not None or self._ending:
            return []
        return [self._buffer("speech_started", self._heard, audio_start_ms=round(time_s * 1000))]

    def partial(self, partial: Partial) -> list[Action]:
        """Words that have become stable."""
        best = self.writing.of(partial).alternatives[:1]
        stable = " ".join(word.text for each in best for word in each.words[: partial.stable_words])
        if not stable:
            return []
        turn = self._heard
        return self._more(turn, " ".join((*turn.said, stable)))

    def final(self, final: Final) -> list[Action]:
        """A turn is over; one without words is none, unless it was committed."""
        written = self.writing.of(final)
        if self._ending:
            turn = self._ending[0]
            turn.said += tuple(filter(None, [best_text(written)]))
            turn.said_s += final.duration_s
            if not final.from_finalize:  # a pause, behind which more of the turn follows
                return self._more(turn, turn.text)
            self._ending.popleft()
            return self._completed(turn)
        if not best_text(written):
            return []
        turn, self._turn = self._heard, None
        turn.said, turn.said_s = (best_text(written),), final.duration_s
        stopped_ms = round(spoken_s(written)[1] * 1000)
        stopped = self._buffer("speech_stopped", turn, audio_end_ms=stopped_ms)
        return [stopped, *self._commit(turn), *self._completed(turn)]

    def commit(self) -> list[Action]:
        """The client says that a turn is over; its text follows."""
        turn, self._turn = self._turn or self._new(), None
        self._ending.append(turn)
        return self._commit(turn)

    def clear(self) -> list[Action]:
        """The client wants nothing of the turn under way."""
        turn, self._turn = self._turn or self._new(), None
        turn.is_dropped = True
        self._ending.append(turn)
        return [Send(self.events.buffer("cleared"))]

    def _completed(self, turn: _Turn) -> list[Action]:
        if turn.is_dropped:
            return []
        completed = self.events.completed(turn.item_id, turn.text, turn.said_s)
        return [*self._more(turn, turn.text), Send(completed)]

    def _commit(self, turn: _Turn) -> list[Action]:
        before, self._last = self._last, turn.item_id
        committed = self.events.buffer("committed", item_id=turn.item_id, previous_item_id=before)
        return [
            Send(committed),
            Send(self.events.item("added", turn.item_id, before)),
            Send(self.events.item("done", turn.item_id, before)),
        ]

    def _more(self, turn: _Turn, text: str) -> list[Action]:
        """What a text has beyond what was told of it; nothing where it has become another."""
        if turn.is_dropped or not text.startswith(turn.told) or text == turn.told:
            return []
        delta, turn.told = text[len(turn.told) :], text
        return [Send(self.events.delta(turn.item_id, delta))]

    @property
    def _heard(self) -> _Turn:
        """The turn that the engine is at: what the client has ended comes before what follows."""
        if self._ending:
            return self._ending[0]
        self._turn = self._turn or self._new()
        return self._turn

    def _new(self) -> _Turn:
        self._count += 1
        return _Turn(f"item_{self.events.session_id[-12:]}_{self._count}")

    def _buffer(self, what: str, turn: _Turn, **told: object) -> Send:
        return Send(self.events.buffer(what, item_id=turn.item_id, **told))
