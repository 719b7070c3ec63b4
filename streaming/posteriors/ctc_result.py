"""Results of `CtcDecoder`. All times are frames of the log-probabilities."""

from dataclasses import dataclass

from earshot.streaming.events import BoostWarning
from earshot.streaming.posteriors.ctc_lattice import CtcLattice


@dataclass(frozen=True)
class CtcWord:
    """A word, from the frame of its first token to that behind its last.

    confidence: 0 to 1. boosted: whether a boosted phrase covers it.
    """

    text: str
    start_frame: int
    end_frame: int
    confidence: float
    boosted: bool


@dataclass(frozen=True)
class CtcText:
    """One of the likeliest texts.

    score: natural logarithm, acoustic and language model together; comparable within one result.
    """

    text: str
    words: tuple[CtcWord, ...]
    score: float

    @property
    def confidence(self) -> float:
        """The mean of the words', 0 to 1; 0 without words."""
        return sum(word.confidence for word in self.words) / max(1, len(self.words))


@dataclass(frozen=True)
class CtcPartial:
    """The likeliest words so far; the first `stable_words` of them stay, whatever follows."""

    text: str
    words: tuple[str, ...]
    stable_words: int


@dataclass(frozen=True)
class CtcResult:
    """The texts of a file, or of a stream up to its end.

    nbest: distinct texts, likeliest first; one at least, which may be empty.
    lattice: all alternatives within `lattice_beam`; None where it would take too long to draw.
    warnings: phrases that could not be boosted as asked, each with the reason.
    overflows: frames in which alternatives found no room; more `max_active` makes room.
    dead_ends: frames that are left out since the graph has no way through them.
    """

    nbest: tuple[CtcText, ...]
    frames: int
    lattice: CtcLattice | None
    warnings: tuple[BoostWarning, ...]
    overflows: int
    dead_ends: int

    @property
    def text(self) -> str:
        """The likeliest text."""
        return self.nbest[0].text

    @property
    def words(self) -> tuple[CtcWord, ...]:
        """Its words."""
        return self.nbest[0].words

    @property
    def score(self) -> float:
        """Its score."""
        return self.nbest[0].score

    @property
    def confidence(self) -> float:
        """The mean of its words', 0 to 1."""
        return self.nbest[0].confidence
