"""The likeliest of some texts: the decoder is asked about each as far as it may be among them.

Every token makes a text less likely, so that what is known of its beginning bounds the whole (best
first search, Hart 1968): whose bound is below those that are known to their ends is asked no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from earshot.models.whisper_decoder.growing_texts import GrowingText, Listening, Question

FOREIGN = -15.0
"""The log-probability of a token that texts are not made of."""

TOKENS_A_PASS = 8
"""New tokens of one segment's texts in a pass: a few more cost hardly more than one."""


class AskedText:
    """One text. tokens: with the end after it. prior: what else counts for it, in nats.

    cut: whether the decoder has no room for more than these tokens, and the end is not among them.

    log_probs: of its first tokens, as far as the decoder has been asked.
    """

    def __init__(
        self,
        row: int,
        text: GrowingText,
        start: int,
        tokens: Sequence[int],
        prior: float,
        is_kept: Callable[[int], bool],
        cut: bool = False,
    ) -> None:
        self._row = row
        self._text = text
        self._tokens = tokens
        self._prior = prior
        self._is_kept = is_kept
        self._cut = cut
        self._path = [start]  # the nodes before the first token, the second one, ...
        self.log_probs: list[float] = []

    @property
    def over(self) -> bool:
        """Whether nothing is left to ask."""
        return len(self.log_probs) == len(self._tokens)

    @property
    def whole(self) -> bool:
        """Whether all of it is known."""
        return self.over and not self._cut

    @property
    def bound(self) -> float:
        """The most that prior and log-probability can sum up to; what they do, of a whole one."""
        return self._prior + sum(self.log_probs)

    def questions(self) -> list[Question]:
        """Questions that have to be answered before `catch_up`, about nodes that are scored."""
        self._walk()
        return [
            Question(self._row, self._path[place], self._tokens[place])
            for place in range(len(self.log_probs), len(self._path))
            if self._path[place] < self._text.scored and self._known(place) is None
        ]

    def catch_up(self) -> None:
        """Take what is known."""
        while len(self.log_probs) < len(self._path):
            found = self._known(len(self.log_probs))
            if found is None:
                return
            self.log_probs.append(found)

    def grow(self, most: int) -> int:
        """Add nodes for tokens that come next, so many at most; returns how many."""
        before = len(self._text)
        while len(self._path) < len(self._tokens) and len(self._text) - before < most:
            token = self._tokens[len(self._path) - 1]
            self._path.append(self._text.follow(self._path[-1], [token]))
        return len(self._text) - before

    def _walk(self) -> None:
        """Go on along nodes that are there."""
        while len(self._path) < len(self._tokens):
            node = self._text.child(self._path[-1], self._tokens[len(self._path) - 1])
            if node is None:
                return
            self._path.append(node)

    def _known(self, place: int) -> float | None:
        if not self._is_kept(self._tokens[place]):
            return FOREIGN
        return self._text.log_prob(self._path[place], self._tokens[place])


def ask(
    listening: Listening,
    asked: Sequence[Sequence[AskedText]],
    wanted: Sequence[int],
    on_pass: Callable[[], None],
) -> None:
    """Ask about texts, a list of them for each segment, until so many `wanted` are known as best.

    `on_pass` is called before each pass of the decoder.
    """
    while True:
        _answer(listening, asked)
        grown = [_grow(own, count) for own, count in zip(asked, wanted, strict=True)]
        if not any(grown):
            return
        on_pass()
        listening.score()


def _answer(listening: Listening, asked: Sequence[Sequence[AskedText]]) -> None:
    questions = list(dict.fromkeys(q for own in asked for each in own for q in each.questions()))
    for question, answer in zip(questions, listening.answer(questions), strict=True):
        listening.texts[question.text].note(question.node, question.token, answer)
    for own in asked:
        for each in own:
            each.catch_up()


def _grow(own: Sequence[AskedText], wanted: int) -> bool:
    """Add the next tokens of those that may be among the best, the best bound first."""
    known = sorted((each.bound for each in own if each.whole), reverse=True)
    least = known[wanted - 1] if len(known) >= wanted else -float("inf")
    rest = [each for each in own if not each.over and each.bound > least]
    room = TOKENS_A_PASS
    for each in sorted(rest, key=lambda each: -each.bound):
        room -= each.grow(room)
    return bool(rest)
