"""The text that Whisper's decoder would write itself, found with few passes over its weights.

Each pass scores guesses of what comes next, made from the first pass's words; the walk along what
the decoder prefers goes as far as the guesses were right (speculative decoding, Leviathan 2023,
with the first pass as the draft). The text is that of greedy search, whatever was guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from earshot.models.whisper_decoder.growing_texts import GrowingText
from earshot.models.whisper_decoder.pen import SENTENCE_ENDS, Pen, plainly

WORDS_AHEAD = 3
MOST_AHEAD = 12
"""Words of a guess, which are in vain after the first that the decoder would not write.

A pass over four nodes costs what one over a single node does, since it waits for the weights. After
a guess that was right to its end the next one is twice as long.
"""

TOKENS_A_WORD = 3
SPARE_TOKENS = 12


class OwnText:
    """One stream's text while it grows. draft: the first pass's words, bare."""

    def __init__(self, text: GrowingText, draft: Sequence[str], pen: Pen, positions: int) -> None:
        self._text = text
        self._draft = list(draft)
        self._pen = pen
        self._start = len(text) - 1
        self._node = self._goal = self._start
        self._ahead = WORDS_AHEAD
        self._place = PlaceInDraft(draft)
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
        place = self._place.after(bare)
        stop = place + self._ahead
        tokens = self._pen.write(plainly(self._draft[place:stop], starts))
        if stop >= len(self._draft) and (tokens or not starts):
            tokens += self._pen.full_stop
        self._goal = self._text.follow(self._node, tokens[:room])

    def walk(self) -> None:
        """Follow what the decoder prefers as far as nodes are scored."""
        right = False
        while not self.ended and self._node < self._text.scored:
            right = right or self._node == self._goal
            token = self._text.likely[self._node][0][0]
            if token == self._pen.end or len(self.tokens) >= self._most:
                self.ended = True
            else:
                self._node = self._text.follow(self._node, [token])
                self.tokens.append(token)
        self._ahead = min(2 * self._ahead, MOST_AHEAD) if right else WORDS_AHEAD

    def stand(self) -> None:
        """End with the rest of the draft."""
        if not self.ended:
            bare = [word.bare for word in self._pen.read(self.tokens)]
            rest = self._draft[self._place.after(bare) :]
            starts = not self.tokens or self._tail() in SENTENCE_ENDS
            self.tokens += self._pen.write(plainly(rest, starts))
            self.tokens = self.tokens[: self._most]
            self.ended = True

    def _tail(self) -> str:
        words = self._pen.read(self.tokens)
        return words[-1].mark if words else ""


class PlaceInDraft:
    """How much of a draft a text tells that grows: after which of its words the fewest edits are.

    The edits are Levenshtein's, of whose table the rows are kept.
    """

    def __init__(self, draft: Sequence[str]) -> None:
        self._draft = draft
        self._words: list[str] = []
        self._rows = [list(range(len(draft) + 1))]

    def after(self, words: Sequence[str]) -> int:
        """The number of words of the draft that some words tell."""
        same = 0
        for known, word in zip(self._words, words, strict=False):
            if known != word:
                break
            same += 1
        del self._rows[same + 1 :]
        for word in words[same:]:
            self._rows.append(self._next(self._rows[-1], word))
        self._words = list(words)
        costs = self._rows[-1]
        return min(range(len(costs)), key=lambda place: (costs[place], -place))

    def _next(self, above: Sequence[int], word: str) -> list[int]:
        row = [above[0] + 1]
        for place, drafted in enumerate(self._draft):
            row.append(min(above[place] + (word != drafted), above[place + 1] + 1, row[place] + 1))
        return row
