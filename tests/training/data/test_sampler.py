"""Epochs: what they hold, how it is batched, and that they can be repeated."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from earshot.training.corpus.utterance import Utterance
from earshot.training.data.sampler import Sampler
from earshot.training.errors import RecipeError
from earshot.training.recipe.config import DataConfig

UTTERANCES = [
    *(Utterance(Path(f"long{i}"), "books", "reader", 3.0 + i / 10, "text") for i in range(100)),
    *(Utterance(Path(f"clip{i}"), "digits", f"s{i % 3}", 0.4, "one") for i in range(90)),
    Utterance(Path("endless"), "books", "reader", 60.0, "text"),
]


@pytest.fixture
def sampler(tone_data: DataConfig) -> Sampler:
    data = replace(
        tone_data,
        draws_first_epoch={"digits": 2.0},
        draws_per_epoch={"books": 1.5, "digits": 1.0},
        joined_corpora=("digits",),
        max_seconds=17.0,
    )
    return Sampler(UTTERANCES, data, 40.0, 8.0, padding_seconds=0.3, seed=1)


def drawn(sampler: Sampler, epoch: int) -> Counter[int]:
    return Counter(i for example in sampler.examples(epoch) for i in example.members)


def test_whole_draws_come_exactly_and_broken_ones_on_average(sampler: Sampler) -> None:
    counts = drawn(sampler, 2)
    assert all(counts[i] == 1 for i in range(100, 190))
    assert all(counts[i] in (1, 2) for i in range(100))
    assert 120 < sum(counts[i] for i in range(100)) < 180


def test_the_first_epoch_has_its_own_corpora(sampler: Sampler) -> None:
    assert drawn(sampler, 0) == Counter(dict.fromkeys(range(100, 190), 2))


def test_what_is_too_long_stays_out(sampler: Sampler) -> None:
    assert 190 not in drawn(sampler, 1)


def test_joined_clips_are_of_one_speaker(sampler: Sampler) -> None:
    examples = sampler.examples(3)
    assert any(len(example.members) > 1 for example in examples)
    for example in examples:
        assert len({UTTERANCES[i].speaker for i in example.members}) == 1
        if len(example.members) > 1:
            assert {UTTERANCES[i].corpus for i in example.members} == {"digits"}


@pytest.mark.parametrize(("epoch", "most_seconds"), [(0, 8.0), (1, 40.0), (4, 40.0)])
def test_batches_hold_everything_and_no_more_than_asked(
    sampler: Sampler, epoch: int, most_seconds: float
) -> None:
    batches = sampler.batches(epoch)
    assert Counter(e for batch in batches for e in batch) == Counter(sampler.examples(epoch))
    for batch in batches:
        longest = max(example.seconds for example in batch)
        assert len(batch) == 1 or longest * len(batch) <= most_seconds


def test_batches_are_of_similar_length(sampler: Sampler) -> None:
    padding = total = 0.0
    for batch in sampler.batches(5):
        longest = max(example.seconds for example in batch)
        padding += sum(longest - example.seconds for example in batch)
        total += longest * len(batch)
    assert padding < 0.2 * total


def test_early_epochs_go_from_short_to_long(sampler: Sampler) -> None:
    lengths = [max(e.seconds for e in batch) for batch in sampler.batches(1)]
    third = len(lengths) // 3
    assert max(lengths[:third]) < max(lengths[-third:])
    assert sum(lengths[:third]) < 0.5 * sum(lengths[-third:])


def test_an_epoch_depends_on_seed_and_number_only(sampler: Sampler) -> None:
    assert sampler.batches(2) == replace(sampler).batches(2)
    assert sampler.batches(2) != sampler.batches(3)
    assert sampler.batches(2) != replace(sampler, seed=2).batches(2)


@pytest.mark.parametrize(("epoch", "key"), [(0, "draws_first_epoch"), (1, "draws_per_epoch")])
def test_an_epoch_without_anything_is_refused(sampler: Sampler, epoch: int, key: str) -> None:
    data = replace(sampler.data, draws_first_epoch={}, draws_per_epoch={"songs": 1.0})
    with pytest.raises(RecipeError, match=key):
        replace(sampler, data=data).batches(epoch)
