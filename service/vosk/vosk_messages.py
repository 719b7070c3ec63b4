"""Messages of vosk-server: the text under way, or one that is done."""

from collections.abc import Sequence

from earshot.service.sessions.actions import JsonMessage
from earshot.streaming.events import Alternative, Final, Word


def partial_message(text: str) -> JsonMessage:
    """A text that may still change."""
    return JsonMessage({"partial": text})


def final_message(finals: Sequence[Final], *, words: bool, alternatives: int) -> JsonMessage:
    """The texts of some finals as one, with its words, or some readings of it.

    alternatives: how many readings; 0 is the text alone, as a client gets it that asks for none.
    """
    if not alternatives:
        return JsonMessage(_reading(_joined(finals, 0), words=words))
    depth = max((len(final.alternatives) for final in finals), default=1)
    readings = (_joined(finals, rank) for rank in range(min(depth, alternatives)))
    told = [{"confidence": _mean(each), **_reading(each, words=words)} for each in readings]
    return JsonMessage({"alternatives": told})


def _joined(finals: Sequence[Final], rank: int) -> list[Alternative]:
    """The reading of each final that has this rank, or its last."""
    return [
        final.alternatives[min(rank, len(final.alternatives) - 1)]
        for final in finals
        if final.alternatives
    ]


def _reading(parts: Sequence[Alternative], *, words: bool) -> dict[str, object]:
    told: dict[str, object] = {}
    if words and (found := [_word(word) for part in parts for word in part.words]):
        told["result"] = found
    return {**told, "text": " ".join(part.text for part in parts if part.text)}


def _word(word: Word) -> dict[str, object]:
    return {
        "conf": round(word.confidence, 6),
        "end": round(word.end_s, 3),
        "start": round(word.start_s, 3),
        "word": word.text,
    }


def _mean(parts: Sequence[Alternative]) -> float:
    sure = [part.confidence for part in parts]
    return round(sum(sure) / max(1, len(sure)), 6)
