"""Where the words of a result lie in its text."""

from earshot.streaming.events import Alternative


def word_spans(best: Alternative) -> list[tuple[int, int]]:
    """Where each word lies in the text, which knows where spaces belong in its language."""
    spans, position = [], 0
    for word in best.words:
        start = best.text.index(word.text, position)
        position = start + len(word.text)
        spans.append((start, position))
    return spans
