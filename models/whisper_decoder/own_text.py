"""The text that Whisper's decoder would write itself, found with few passes over its weights.

Each pass scores guesses of what comes next, made from the first pass's words; the walk along what
the decoder prefers goes as far as the guesses were right (speculative decoding, Leviathan 2023,
with the first pass as the draft). The text is that of greedy search, whatever was guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from earshot.models.whisper_decoder.growing_texts import GrowingText
from earshot.models.whisper_decoder.pen import SENTENCE_ENDS, Pen, plainly

WORDS_AHEAD = 14
"""Words of a guess, which are in vain after the first that the decoder would not write."""

WORDS_AHEAD_ELSEWHERE = 4
"""Words of a guess from the second best place in the draft."""

TOKENS_A_WORD = 3
SPARE_TOKENS = 12


class OwnText:
    """One stream's text while it grows. draft: the first pass's words, bare."""

    def __init__(self, text: GrowingText, draft: Sequence[str], pen: Pen, positions: int) -> None:
        self._text = text
        self._draft = list(draft)
        self._pen = pen
        self._start = len(text) - 1
        self._node = self._start
        most = TOKENS_A_WORD * len(self._draft) + SPARE_TOKENS
        self._most = min(most, positions - len(text) - 1)
        self.tokens: list[int] = []
        self.ended = False

    @property
    def start(self) -> int:
        """The node before the text's first token."""
        return self._start

    def guess(self) -> None:
        """Add nodes that the decoder may prefer next."""
        if self.ended:
            return
        bare = [word.bare for word in self._pen.read(self.tokens)]
        starts = not self.tokens or self._tail() in SENTENCE_ENDS
        room = max(self._most - len(self.tokens), 0)
        for place, ahead in zip(
            places_in(self._draft, bare), (WORDS_AHEAD, WORDS_AHEAD_ELSEWHERE), strict=False
        ):
            stop = place + ahead
            tokens = self._pen.write(plainly(self._draft[place:stop], starts))
            if stop >= len(self._draft) and (tokens or not starts):
                tokens += self._pen.full_stop
            self._text.follow(self._node, tokens[:room])

    def walk(self) -> None:
        """Follow what the decoder prefers as far as nodes are scored."""
        while not self.ended and self._node < self._text.scored:
            token = self._text.likely[self._node][0][0]
            if token == self._pen.end or len(self.tokens) >= self._most:
                self.ended = True
            else:
                self._node = self._text.follow(self._node, [token])
                self.tokens.append(token)

    def stand(self) -> None:
        """End with the rest of the draft."""
        if not self.ended:
            bare = [word.bare for word in self._pen.read(self.tokens)]
            rest = self._draft[places_in(self._draft, bare)[0] :]
            starts = not self.tokens or self._tail() in SENTENCE_ENDS
            self.tokens += self._pen.write(plainly(rest, starts))
            self.tokens = self.tokens[: self._most]
            self.ended = True

    def _tail(self) -> str:
        words = self._pen.read(self.tokens)
        return words[-1].mark if words else ""


def places_in(draft: Sequence[str], words: Sequence[str]) -> list[int]:
    """The two likeliest numbers of words of the draft that other words tell, the best first.

    Those after which the fewest edits are left (Levenshtein).
    """
    costs = list(range(len(draft) + 1))
    for done, word in enumerate(words, 1):
        diagonal, costs[0] = costs[0], done
        for place, drafted in enumerate(draft, 1):
            best = min(diagonal + (word != drafted), costs[place] + 1, costs[place - 1] + 1)
            diagonal, costs[place] = costs[place], best
    return sorted(range(len(costs)), key=lambda place: (costs[place], -place))[:2]
