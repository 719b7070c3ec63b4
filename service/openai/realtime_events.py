"""Events of a realtime session, numbered as they go out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from earshot.service.sessions.actions import JsonMessage

_TRANSCRIPTION = "conversation.item.input_audio_transcription"


@dataclass
class RealtimeEvents:
    """Makes the events of one session."""

    session_id: str
    _numbers: count = field(default_factory=lambda: count(1))  # type: ignore[type-arg]

    def session(self, what: str, told: Mapping[str, object]) -> JsonMessage:
        """The session, created or updated."""
        session = {
            "id": self.session_id,
            "object": "realtime.transcription_session",
            "type": "transcription",
            **told,
        }
        return self._event(f"session.{what}", session=session)

    def buffer(self, what: str, **told: object) -> JsonMessage:
        """The audio: speech_started, speech_stopped, committed, cleared."""
        return self._event(f"input_audio_buffer.{what}", **told)

    def item(self, what: str, item_id: str, before: str | None) -> JsonMessage:
        """A turn as an item of the conversation: added or done."""
        content = [{"type": "input_audio", "transcript": None}]
        item = {
            "id": item_id,
            "object": "realtime.item",
            "type": "message",
            "status": "completed",
            "role": "user",
            "content": content,
        }
        return self._event(f"conversation.item.{what}", previous_item_id=before, item=item)

    def delta(self, item_id: str, text: str) -> JsonMessage:
        """More of a turn's text."""
        return self._event(f"{_TRANSCRIPTION}.delta", item_id=item_id, content_index=0, delta=text)

    def completed(self, item_id: str, text: str, duration_s: float) -> JsonMessage:
        """A turn's whole text."""
        usage = {"type": "duration", "seconds": round(duration_s, 3)}
        return self._event(
            f"{_TRANSCRIPTION}.completed",
            item_id=item_id,
            content_index=0,
            transcript=text,
            usage=usage,
        )

    def error(self, told: Mapping[str, object]) -> JsonMessage:
        """Something that a client asked for, or what ends the session."""
        return self._event("error", error=told)

    def _event(self, kind: str, **told: object) -> JsonMessage:
        return JsonMessage({"type": kind, "event_id": f"event_{next(self._numbers)}", **told})
