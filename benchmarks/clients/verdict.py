"""What a client's program printed, judged: partials, texts, and what went wrong on purpose."""

import json
import string
from collections.abc import Sequence
from dataclasses import dataclass

from earshot.service.bench.word_errors import word_errors

WRONG_WORDS = 0.15
"""The share of a text's words beyond which a client has not got what was said."""
SEEN_WORDS = 0.5
"""The share of the words that were said that some partial has to have."""
MARKS = str.maketrans("", "", string.punctuation.replace("'", ""))


@dataclass(frozen=True)
class Heard:
    """Texts as a client's user has them, of one recording; `said` is what was read."""

    said: str
    partials: tuple[str, ...]
    finals: tuple[str, ...]
    files: tuple[str, ...]
    errors: tuple[str, ...]

    @classmethod
    def of(cls, said: str, printed: str) -> "Heard":
        """The last line that a program printed.

        Raises ValueError where that is not what `seen` prints.
        """
        lines = printed.strip().splitlines()
        told = json.loads(lines[-1]) if lines else None
        if not isinstance(told, dict):
            raise ValueError("the program printed nothing that was seen")
        return cls(said, *(tuple(told[key]) for key in ("partials", "finals", "files", "errors")))

    @property
    def texts(self) -> list[str]:
        """Each whole text: of the stream, and of files."""
        return [plain(text) for text in (" ".join(self.finals), *self.files) if text]

    def wrong_words(self) -> float:
        """The worst text's share of wrong words; 1 where there is none."""
        return max((word_errors([(self.said, text)]) for text in self.texts), default=1.0)

    def seen_words(self) -> float:
        """The share of what was said that is in any partial."""
        seen = set(plain(" ".join(self.partials)).split())
        words = self.said.split()
        return sum(word in seen for word in words) / len(words)


def plain(text: str) -> str:
    """A text without capitals and marks, which some clients ask for by themselves."""
    return " ".join(text.lower().translate(MARKS).split())


@dataclass(frozen=True)
class Verdict:
    """The cells of a line in the table, and what is amiss."""

    partials: str
    wrong_words: str
    errors: str
    amiss: tuple[str, ...] = ()

    @classmethod
    def failed(cls, why: str) -> "Verdict":
        """A client whose program did not come to its end."""
        return cls("-", "-", "-", (f"it failed: {why}",))


def judge(heard: Sequence[Heard], *, texts: int, errors: int, has_partials: bool) -> Verdict:
    """Compare with what a client can have: so many texts and errors, and partials or none."""
    worst = max(each.wrong_words() for each in heard)
    seen = min(each.seen_words() for each in heard) if has_partials else 1.0
    amiss = [] if seen >= SEEN_WORDS else [f"partials have {100 * seen:.0f} % of the words"]
    amiss += [f"{each} of {texts} texts came" for each in unlike(texts, [h.texts for h in heard])]
    if worst > WRONG_WORDS:
        amiss.append(f"{100 * worst:.0f} % of a text's words are wrong")
    amiss += [
        f"{each} of {errors} errors came" for each in unlike(errors, [h.errors for h in heard])
    ]
    names = dict.fromkeys(error.split(":")[0] for each in heard for error in each.errors)
    return Verdict(
        str(sum(len(each.partials) for each in heard)) if has_partials else "it has none",
        f"{100 * worst:.0f} %",
        ", ".join(f"`{name}`" for name in names) or "none",
        tuple(amiss),
    )


def unlike(wanted: int, came: Sequence[Sequence[str]]) -> list[int]:
    """Other counts than are wanted, each once."""
    return sorted({len(each) for each in came} - {wanted})
