"""Whisper as it was published, by faster-whisper: whole recordings, float32, one thread.

Not among our packages: `pip install faster-whisper`.
"""

from __future__ import annotations

from pathlib import Path


class PublishedWhisper:
    """A folder of CTranslate2's form.

    Raises:
        ImportError: faster-whisper is not installed.
    """

    def __init__(self, folder: Path) -> None:
        from faster_whisper import WhisperModel

        self._model = WhisperModel(str(folder), device="cpu", compute_type="float32", cpu_threads=1)

    def hear(self, recording: Path, beam_size: int = 5) -> str:
        """What it writes."""
        segments, _ = self._model.transcribe(str(recording), language="en", beam_size=beam_size)
        return " ".join(segment.text.strip() for segment in segments)
