"""Messages to WhisperLiveKit's page: all lines that are done, and the text under way."""

from collections import deque
from dataclasses import dataclass, field

from earshot.service.best_reading import best_text, spoken_s
from earshot.service.sessions.actions import JsonMessage
from earshot.streaming.events import Final, Partial

MOST_LINES = 200
"""In one message; each has all of them again."""


CONFIG = JsonMessage({"type": "config", "useAudioWorklet": True, "mode": "full"})
"""The page is to send samples, not a container."""

READY_TO_STOP = JsonMessage({"type": "ready_to_stop"})


def failure(message: str) -> JsonMessage:
    """Why the session ends."""
    return JsonMessage({"type": "error", "error": message})


@dataclass
class PageLines:
    """The lines of one session, the oldest dropped."""

    _lines: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=MOST_LINES))

    def partial(self, partial: Partial) -> JsonMessage:
        """The lines and the text under way."""
        return self._message(best_text(partial))

    def final(self, final: Final) -> JsonMessage | None:
        """The lines with another; None where nothing was said."""
        if not (text := best_text(final)):
            return None
        start_s, end_s = spoken_s(final)
        line = {"speaker": 1, "text": text, "start": _clock(start_s), "end": _clock(end_s)}
        self._lines.append(line)
        return self._message("")

    def _message(self, buffer: str) -> JsonMessage:
        is_silent = not (self._lines or buffer)
        return JsonMessage(
            {
                "status": "no_audio_detected" if is_silent else "active_transcription",
                "lines": list(self._lines),
                "buffer_transcription": buffer,
                "buffer_diarization": "",
                "buffer_translation": "",
                "remaining_time_transcription": 0,
                "remaining_time_diarization": 0,
            }
        )


def _clock(time_s: float) -> str:
    """Hours, minutes, seconds and hundredths."""
    minutes, hundredths = divmod(round(time_s * 100), 6000)
    hours, minutes = divmod(minutes, 60)
    seconds, hundredths = divmod(hundredths, 100)
    return f"{hours}:{minutes:02d}:{seconds:02d}.{hundredths:02d}"
