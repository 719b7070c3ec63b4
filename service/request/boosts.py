"""Boosted phrases as clients write them: `keyterm=phrase`, `keywords=word:weight`."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from earshot.language.text.unicode_text import is_unicode
from earshot.service.errors import BadPhrase, BadRequest
from earshot.service.request.request_warning import RequestWarning
from earshot.streaming.stream_config import Boost

MAX_PHRASE_CHARS = 200
MAX_WEIGHT = 20.0
_NUMBER = r"[-+]?(?:\d{1,9}(?:\.\d*)?|\.\d+)"
_WEIGHT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
WEIGHED_KEYTERM = re.compile(rf"(?P<phrase>.*[^\d\s])\s*:\s*(?P<weight>{_NUMBER})", re.ASCII)
_FOREIGN_NUMBER = re.compile(
    r".*[^\d\s]\s*:\s*[-+]?(?:nan|inf(?:inity)?|[\d.]+(?:e[-+]?\d+)?)", re.ASCII | re.IGNORECASE
)
"""A keyterm with a weight that is a number to a programming language, and none here."""
_COLON_WITHIN = re.compile(r".*[^\d\s]:(?!//)\S+", re.ASCII)


class TooManyPhrases(BadRequest):
    """More phrases than one request may boost."""


@dataclass(frozen=True)
class BoostRules:
    """What a request may boost.

    default_weight: for phrases without one, a bonus in natural log.
    max_phrases: of keyterms and keywords together.
    max_chars: of all phrases together, which bounds their table and the time that it takes.
    most_earned: nats beyond which no weight changes anything, where that is known.
    """

    default_weight: float = 8.0
    max_phrases: int = 1000
    max_chars: int = 20_000
    most_earned: float | None = None

    @property
    def limits(self) -> dict[str, float]:
        """The limits that /v1/models lists."""
        limits: dict[str, float] = {
            "phrases": self.max_phrases,
            "phrase_characters": MAX_PHRASE_CHARS,
            "characters": self.max_chars,
        }
        if self.most_earned is not None:
            limits["weight"] = self.most_earned
        return limits

    def parse(self, keyterms: Sequence[str], keywords: Sequence[str]) -> tuple[Boost, ...]:
        """Read the phrases of one request.

        Raises:
            TooManyPhrases: there are more than ``max_phrases``, or ``max_chars`` in them.
            BadRequest: a phrase is empty or too long, or its weight is no number in range.
        """
        if len(keyterms) + len(keywords) > self.max_phrases:
            count = len(keyterms) + len(keywords)
            raise TooManyPhrases(f"{count} boosted phrases, {self.max_phrases} are allowed")
        chars = sum(map(len, (*keyterms, *keywords)))
        if chars > self.max_chars:
            raise TooManyPhrases(
                f"boosted phrases of {chars} characters in all, {self.max_chars} are allowed"
            )
        return (
            *(self._keyterm(text) for text in keyterms),
            *(self._keyword(text) for text in keywords),
        )

    def warnings(
        self, keyterms: Iterable[str], keywords: Iterable[str], beam: float | None = None
    ) -> list[RequestWarning]:
        """Say which weights `parse` took for part of a keyterm, or capped; all have passed it.

        Of one that can earn less anyway the engine says what it counts as (`boost_warnings`); in a
        beam of the request's own more may be earned.
        """
        earns_less = beam is None and (self.most_earned or MAX_WEIGHT) < MAX_WEIGHT
        split = [text.rpartition(":") for text in keywords]
        return [
            *(
                _changed("keyterm", text.strip(), "what follows the colon is no weight, but said")
                for text in keyterms
                if _COLON_WITHIN.fullmatch(text.strip())
                and not WEIGHED_KEYTERM.fullmatch(text.strip())
            ),
            *(
                _changed(
                    "keywords", word, f"the weight {weight} counts as {_capped(float(weight)):g}"
                )
                for word, colon, weight in split
                if colon
                and abs(float(weight)) > MAX_WEIGHT
                and not (float(weight) > 0 and earns_less)
            ),
        ]

    def _keyterm(self, text: str) -> Boost:
        """A phrase as it is; a weight may follow a colon, if no digit stands before ("10:30")."""
        match = WEIGHED_KEYTERM.fullmatch(text.strip())
        if match is None and _FOREIGN_NUMBER.fullmatch(text.strip()):
            weight = text.rpartition(":")[2].strip()
            raise BadPhrase(f"keyterm={text}: the weight {weight!r} is not a number as 2 or -1.5")
        if match is None:
            return _boost("keyterm", text, self.default_weight)
        return _boost("keyterm", match["phrase"], float(match["weight"]))

    def _keyword(self, text: str) -> Boost:
        """`word` or `word:weight`: what follows the last colon is the weight, capped.

        Deepgram's have no bounds, and clients made for it send 100.
        """
        word, colon, weight = text.rpartition(":")
        if not colon:
            return _boost("keywords", text, self.default_weight)
        if not _WEIGHT.fullmatch(weight.strip()):
            raise BadPhrase(
                f"keywords={text}: the weight {weight!r} after the last colon is not a number"
            )
        return _boost("keywords", word, _capped(float(weight)))


def _changed(parameter: str, phrase: str, message: str) -> RequestWarning:
    phrase = phrase.strip()
    return RequestWarning(
        parameter=parameter, type="changed_value", message=f"{phrase}: {message}", phrase=phrase
    )


def _capped(weight: float) -> float:
    return math.copysign(min(abs(weight), MAX_WEIGHT), weight)


def _boost(parameter: str, phrase: str, weight: float) -> Boost:
    phrase = phrase.strip()
    if not is_unicode(phrase):
        raise BadPhrase(f"{parameter}: {phrase!r} has letters that are none in Unicode")
    if not phrase:
        raise BadRequest(f"{parameter}: the phrase is empty")
    if len(phrase) > MAX_PHRASE_CHARS:
        raise BadRequest(f"{parameter}: a phrase is longer than {MAX_PHRASE_CHARS} characters")
    if not math.isfinite(weight) or abs(weight) > MAX_WEIGHT:
        raise BadPhrase(
            f"{parameter}={phrase}: the weight {weight:g} is not between "
            f"-{MAX_WEIGHT:.0f} and {MAX_WEIGHT:.0f}"
        )
    return Boost(phrase, weight)
