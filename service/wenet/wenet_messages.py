"""Messages of WeNet's runtime, field by field."""

import json

from earshot.service.best_reading import best_text
from earshot.service.sessions.actions import JsonMessage
from earshot.streaming.events import Alternative, Final, Partial, Word

READY = JsonMessage({"status": "ok", "type": "server_ready"})
SPEECH_END = JsonMessage({"status": "ok", "type": "speech_end"})


def failed(message: str) -> JsonMessage:
    """Why the session ends."""
    return JsonMessage({"status": "failed", "message": message})


def partial_result(partial: Partial) -> JsonMessage:
    """A text that may still change."""
    return _result("partial_result", [{"sentence": best_text(partial)}])


def final_result(final: Final) -> JsonMessage:
    """The readings of a text that is done, the best first, with times of words in ms."""
    found = final.alternatives or (Alternative("", (), 0.0, 0.0),)
    return _result("final_result", [_sentence(each) for each in found])


def _result(kind: str, nbest: list[dict[str, object]]) -> JsonMessage:
    """The list is a text of JSON in the JSON: WeNet's clients parse twice."""
    told = json.dumps(nbest, ensure_ascii=False)
    return JsonMessage({"status": "ok", "type": kind, "nbest": told})


def _sentence(reading: Alternative) -> dict[str, object]:
    return {"sentence": reading.text, "word_pieces": [_piece(word) for word in reading.words]}


def _piece(word: Word) -> dict[str, object]:
    return {
        "word": word.text,
        "start": round(word.start_s * 1000),
        "end": round(word.end_s * 1000),
    }
