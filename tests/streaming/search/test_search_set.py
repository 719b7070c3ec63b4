"""All searches of a recogniser as one."""

from dataclasses import dataclass
from types import SimpleNamespace

from earshot.streaming.results.hypothesis import SpokenWord
from earshot.streaming.results.kept_words import NO_WORDS, KeptWords
from earshot.streaming.search.search_set import SearchSet


@dataclass(frozen=True)
class Found:
    """One token a word, a frame each."""

    text: str
    score: float = 0.0
    word_confidences = None
    ends = None

    @property
    def words(self):
        return [SpokenWord(text, i, i + 1, False) for i, text in enumerate(self.text.split())]

    @property
    def tokens(self):
        return tuple(range(len(self.words)))

    frames = tokens

    @property
    def token_log_probs(self):
        return [-1.0] * len(self.words)


FOUND = [Found("we are here"), Found("we were here"), Found("he is here")]


def listed(kept: KeptWords, count: int) -> list[str]:
    """What a search that has found FOUND lists of a segment with these words kept."""
    search = SimpleNamespace(nbest=lambda stream, count, *, ended: FOUND)
    stream = SimpleNamespace(search="graph", segment=SimpleNamespace(kept=kept))
    return [each.text for each in SearchSet({"graph": search}).nbest(stream, count, ended=True)]


def test_a_list_has_as_many_as_were_asked_for() -> None:
    assert listed(NO_WORDS, 2) == ["we are here", "we were here"]
    assert listed(NO_WORDS, 9) == [each.text for each in FOUND]


def test_words_that_were_told_are_looked_for_in_all_that_a_search_knows() -> None:
    told = KeptWords.of(Found("he is there"), 2)
    assert listed(told, 1) == ["he is here"]
