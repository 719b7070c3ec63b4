"""What a result says, in protocols that tell one reading."""

from earshot.streaming.events import Final, Partial


def best_text(result: Partial | Final) -> str:
    """The best reading, or nothing."""
    return result.alternatives[0].text if result.alternatives else ""


def spoken_s(final: Final) -> tuple[float, float]:
    """Where the words of the best reading begin and end; without words, where the final does."""
    words = final.alternatives[0].words if final.alternatives else ()
    if not words:
        return final.start_s, final.start_s + final.duration_s
    return words[0].start_s, words[-1].end_s
