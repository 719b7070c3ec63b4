"""A transcript in the format that a form asked for."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from starlette.responses import Response

from earshot.service.best_reading import spoken_s
from earshot.service.http.header_value import header_list
from earshot.service.openai.refusal_answer import REQUEST_ID
from earshot.service.openai.transcription_fields import AnswerFormat, TranscriptionFields
from earshot.service.request.request_warning import RequestWarning
from earshot.service.subtitles import srt, vtt
from earshot.service.transcript import Transcript
from earshot.streaming.events import Final, Word

WARNINGS = "x-warning"
_LEAST_CONFIDENCE = 1e-4
_FRAMES_PER_S = 100
"""Of Whisper's features, by which it counts `seek`."""

_MEDIA_TYPES: dict[AnswerFormat, str] = {
    "json": "application/json",
    "verbose_json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
}


@dataclass(frozen=True)
class TranscriptionAnswer:
    """All that the answer needs besides the transcript. language: a tag, or nothing."""

    asked: TranscriptionFields
    request_id: str
    language: str

    def response(self, transcript: Transcript, warnings: Sequence[RequestWarning]) -> Response:
        """The answer as one HTTP response; warnings are in a header, and in what is JSON."""
        headers = {REQUEST_ID: self.request_id}
        if warnings:
            headers[WARNINGS] = header_list([each.message for each in warnings])
        media_type = _MEDIA_TYPES[self.asked.format]
        return Response(self.body(transcript, warnings), headers=headers, media_type=media_type)

    def body(self, transcript: Transcript, warnings: Sequence[RequestWarning]) -> str:
        """Write a transcript whose finals are written as they are to be read."""
        match self.asked.format:
            case "json" | "verbose_json":
                return json.dumps(self.json_object(transcript, warnings), ensure_ascii=False)
            case "text":
                return f"{text_of(transcript)}\n"
            case "srt":
                return srt(transcript.finals)
            case "vtt":
                return vtt(transcript.finals)

    def json_object(
        self, transcript: Transcript, warnings: Sequence[RequestWarning]
    ) -> dict[str, Any]:
        """The answer in JSON, with all that was asked for."""
        is_verbose = self.asked.format == "verbose_json"
        told: dict[str, Any] = {"text": text_of(transcript)}
        if is_verbose:
            told = self._verbose(transcript)
        told["usage"] = {"type": "duration", "seconds": round(transcript.duration_s, 3)}
        if warnings:
            told["warnings"] = [each.model_dump(exclude_none=True) for each in warnings]
        return told

    def _verbose(self, transcript: Transcript) -> dict[str, Any]:
        told: dict[str, Any] = {
            "task": "transcribe",
            "language": self.language,
            "duration": round(transcript.duration_s, 3),
            "text": text_of(transcript),
        }
        if "segment" in self.asked.granularities:
            told["segments"] = [_segment(*each) for each in enumerate(transcript.finals)]
        if "word" in self.asked.granularities:
            told["words"] = [_word(word) for final in transcript.finals for word in _words(final)]
        return told


def text_of(transcript: Transcript) -> str:
    """All of it in one line."""
    return " ".join(final.alternatives[0].text for final in transcript.finals)


def _segment(number: int, final: Final) -> dict[str, object]:
    """One final as a segment of Whisper's.

    Its score is the mean of the logarithms of its words' confidences. Nobody is told of a segment
    without speech, nothing is drawn by chance, and tokens are the model's own affair.
    """
    best, words = final.alternatives[0], _words(final)
    text = best.text.encode()
    start_s, end_s = spoken_s(final)
    return {
        "id": number,
        "seek": round(start_s * _FRAMES_PER_S),
        "start": round(start_s, 3),
        "end": round(end_s, 3),
        "text": best.text,
        "tokens": [],
        "temperature": 0.0,
        "avg_logprob": round(_mean_log(words), 4),
        "compression_ratio": round(len(text) / len(zlib.compress(text)), 4),
        "no_speech_prob": 0.0,
    }


def _words(final: Final) -> tuple[Word, ...]:
    return final.alternatives[0].words


def _word(word: Word) -> dict[str, object]:
    return {"word": word.text, "start": round(word.start_s, 3), "end": round(word.end_s, 3)}


def _mean_log(words: Sequence[Word]) -> float:
    sure = [log(max(_LEAST_CONFIDENCE, word.confidence)) for word in words]
    return sum(sure) / max(1, len(sure))
