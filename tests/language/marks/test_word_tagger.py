"""The tagger, word by word and all at once."""

import random

import pytest
import torch

from earshot.language.marks.pauses import END, NEWEST, pause_classes
from earshot.language.marks.tagger_network import TaggerConfig, TaggerNetwork
from earshot.language.marks.word_numbers import WordNumbers
from earshot.language.marks.word_tagger import NOTHING_TAGGED, WordTagger

SENTENCE = "well i am not sure that mister brown of the old mill is here today are you"
WORDS = SENTENCE.split()


@pytest.fixture(scope="module")
def tagger() -> WordTagger:
    torch.manual_seed(3)
    config = TaggerConfig(words=12, hashed=8, ends=16, word_size=8, end_size=4, size=16)
    return WordTagger(TaggerNetwork(config), WordNumbers(WORDS[:12], config), {})


def drawn(count: int, seed: int) -> list[tuple[str, int]]:
    rng = random.Random(seed)
    return [(rng.choice(WORDS), rng.randrange(6)) for _ in range(count)]


def logits(tagger: WordTagger, *segments: list[tuple[str, int]]) -> torch.Tensor:
    """As training sees them: all segments of one text in one row."""
    keys = [key for segment in segments for key in segment]
    numbers = torch.tensor([[tagger.numbers.of(word) for word, _ in keys]])
    pauses = torch.tensor([[pause for _, pause in keys]])
    number = [[place for place, segment in enumerate(segments) for _ in segment]]
    return tagger.network(
        numbers, pauses, torch.zeros_like(pauses), torch.tensor(number)
    )[0]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_tags_of_words_that_came_one_by_one_are_those_of_all_at_once(tagger, seed):
    keys = drawn(40, seed)
    known = NOTHING_TAGGED
    for count in range(1, len(keys) + 1):
        known = tagger.tag([*keys[: count - 1], (keys[count - 1][0], NEWEST)], known)
        assert len(known.tags) == count
    ending = [*keys[:-1], (keys[-1][0], END)]
    assert tagger.tag(ending, known).tags == tagger.tag(ending).tags


@pytest.mark.parametrize("seed", range(8))
def test_words_that_change_are_tagged_anew_and_so_are_those_that_saw_them(tagger, seed):
    keys = drawn(30, seed)
    known = tagger.tag(keys)
    place = 3 * seed
    changed = [*keys[:place], ("otherwise", 0), *keys[place + 1 :]]
    assert tagger.tag(changed, known).tags == tagger.tag(changed).tags
    assert tagger.tag(keys[:place], known).tags == tagger.tag(keys[:place]).tags


@pytest.mark.parametrize("seed", range(8))
def test_tags_are_those_of_the_network_that_is_trained(tagger, seed):
    first, second = drawn(25, seed), drawn(12, seed + 100)
    past = tagger.tag(first)
    tags = past.tags + tagger.tag(second, past.as_past()).tags
    expected = logits(tagger, first, second)
    assert [tag.mark for tag in tags] == expected[:, :4].argmax(-1).tolist()
    assert [tag.capital for tag in tags] == expected[:, 4:].argmax(-1).tolist()


def test_segments_that_are_tagged_together_are_tagged_as_alone(tagger):
    pasts = [NOTHING_TAGGED, tagger.tag(drawn(25, 1)), tagger.tag(drawn(30, 2)).as_past()]
    pasts += [tagger.tag(drawn(9, 3)), tagger.tag(drawn(7, 4)), NOTHING_TAGGED]
    keys = [drawn(12, 5), drawn(31, 1), drawn(9, 6), drawn(9, 3), drawn(7, 4)[:5], []]
    asked = list(zip(keys, pasts, strict=True))
    together = tagger.tag_all(asked)
    assert together == [tagger.tag(*each) for each in asked]
    more = [([*own, ("mill", END)], each) for own, each in zip(keys, together, strict=True)]
    assert tagger.tag_all(more) == [tagger.tag(*each) for each in more]
    assert tagger.tag_all([]) == []


def test_a_segment_sees_the_one_before_it(tagger):
    keys = drawn(12, 5)
    pasts = [tagger.tag(drawn(9, seed)).as_past() for seed in range(20)]
    assert any(tagger.tag(keys, past).tags != tagger.tag(keys).tags for past in pasts)


def test_only_words_that_can_change_are_looked_at_again(tagger, monkeypatch):
    keys = drawn(40, 1)
    known = tagger.tag(keys)
    looked = []
    of = tagger.numbers.of
    monkeypatch.setattr(tagger.numbers, "of", lambda word: looked.append(word) or of(word))
    more = tagger.tag([*keys, ("mill", END)], known)
    assert looked == ["mill"]
    assert more.tags[:36] == known.tags[:36]


def test_nothing_said_has_no_tags(tagger):
    assert tagger.tag([]).tags == ()
    known = tagger.tag(drawn(3, 1))
    assert tagger.tag([], known).tags == ()


def test_pauses_are_told_in_classes():
    times = [(0.0, 0.3), (0.31, 0.5), (0.8, 1.0), (2.0, 2.2)]
    assert pause_classes(times, END) == [1, 3, 5, END]
    assert pause_classes([], END) == []
