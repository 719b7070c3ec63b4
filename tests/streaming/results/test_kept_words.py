"""Words that were called stable, before what another search goes on with."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from earshot.streaming.results.hypothesis import Best, SpokenWord
from earshot.streaming.results.kept_words import NO_WORDS, Continued, KeptWords
from earshot.streaming.results.results import first_pass_scores


@dataclass(frozen=True)
class Found:
    """Words of two tokens each, at the frames given."""

    text: str
    frames: tuple[int, ...]
    score: float = -1.0
    word_confidences: tuple[float, ...] | None = None
    ends: tuple[int, ...] | None = None

    @property
    def words(self):
        texts = self.text.split()
        return [SpokenWord(text, 2 * i, 2 * i + 2, i == 0) for i, text in enumerate(texts)]

    @property
    def tokens(self):
        return tuple(10 * frame for frame in self.frames)

    @property
    def token_log_probs(self):
        return [-float(frame) for frame in self.frames]


TOLD = Found("hot tea now", (1, 2, 5, 6, 9, 10))
KEPT = KeptWords.of(TOLD, 2)
OTHER = Found("what he is now", (1, 2, 4, 5, 6, 7, 9, 11), word_confidences=(0.1, 0.2, 0.3, 0.4))


def test_what_begins_with_the_kept_words_stays_as_it_is():
    assert KEPT.nbest([OTHER, TOLD]) == [TOLD]
    assert KEPT.best(Best(TOLD, 1)) == Best(TOLD, 2)
    assert KEPT.best(Best(TOLD, 3)) == Best(TOLD, 3)
    assert NO_WORDS.nbest([OTHER, TOLD]) == [OTHER, TOLD]
    assert NO_WORDS.best(Best(OTHER, 1)) == Best(OTHER, 1)


def test_what_begins_otherwise_goes_on_after_the_kept_words():
    [found] = KEPT.nbest([OTHER])
    assert found == Continued(KEPT, OTHER)
    assert found.text == "hot tea now"
    assert found.frames == [1, 2, 5, 6, 9, 11]
    assert found.tokens == (10, 20, 50, 60, 90, 110)
    assert found.token_log_probs == [-1.0, -2.0, -5.0, -6.0, -9.0, -11.0]
    assert [(word.text, word.first, word.stop) for word in found.words] == [
        ("hot", 0, 2),
        ("tea", 2, 4),
        ("now", 4, 6),
    ]
    assert [word.boosted for word in found.words] == [True, False, False]
    assert found.score == OTHER.score


def test_what_is_left_of_a_member_behind_the_kept_words_is_none():
    first, *words = OTHER.words
    member = [
        replace(word, word_class="name", goes_on=place > 0) for place, word in enumerate(words)
    ]
    found = Continued(KEPT, SimpleNamespace(words=[first, *member], frames=OTHER.frames, tokens=()))
    assert [(word.text, word.word_class, word.goes_on) for word in found.words[1:]] == [
        ("tea", None, False),
        ("now", None, False),
    ]
    whole = [first, words[0], replace(words[1], goes_on=True), replace(words[2], word_class="name")]
    found = Continued(KEPT, SimpleNamespace(words=whole, frames=OTHER.frames, tokens=()))
    assert found.words[2].word_class == "name"


def test_it_is_stable_as_far_as_it_was_told():
    assert KEPT.best(Best(OTHER, 4)) == Best(Continued(KEPT, OTHER), 2)


def test_kept_words_are_as_sure_as_when_they_were_told():
    sure = list(first_pass_scores(TOLD).word_confidences)
    [found] = KEPT.nbest([OTHER])
    assert found.word_confidences == [*sure[:2], 0.4]
    [found] = KEPT.nbest([Found("no", (1, 2))])
    assert found.word_confidences is None
    assert (found.text, found.tokens) == ("hot tea", KEPT.tokens)


@pytest.mark.parametrize(("frames", "text"), [(11, "hot tea"), (7, "hot tea"), (6, "hot"), (1, "")])
def test_words_behind_a_cut_are_not_kept(frames, text):
    kept = KEPT.until(frames)
    assert " ".join(word.text for word in kept.words) == text
    assert len(kept.tokens) == len(kept.frames) == 2 * len(kept.words) == 2 * len(kept.confidences)


def test_tokens_end_where_both_searches_say_that_they_do():
    told = replace(TOLD, ends=(2, 4, 6, 8, 10, 12))
    other = replace(OTHER, ends=(2, 4, 5, 6, 7, 9, 10, 13))
    [found] = KeptWords.of(told, 2).nbest([other])
    assert found.ends == [2, 4, 6, 8, 10, 13]
    assert KeptWords.of(told, 2).until(6).ends == (2, 4)
    for kept, rest in ((TOLD, other), (told, OTHER)):
        [found] = KeptWords.of(kept, 2).nbest([rest])
        assert found.ends is None


def test_of_no_words_nothing_is_kept():
    assert KeptWords.of(TOLD, 0) == NO_WORDS
