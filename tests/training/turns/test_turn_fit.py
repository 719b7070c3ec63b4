"""A head that is fitted to pauses."""

import random
from dataclasses import replace

import pytest
import torch

from earshot.models.turns.turn_head import STRETCHES, TurnHead
from earshot.models.turns.turn_rule import TurnRule
from earshot.training.errors import TrainingError
from earshot.training.turns.turn_fit import LENGTHS_MS, HeardPause, fit_turn_head

SHAPE = (len(STRETCHES), 4)
TRUE = TurnRule(0.5, 0.7, 1.1)


def drawn(count: int, head: TurnHead, seed: int = 0, corpus: str = "a") -> list[HeardPause]:
    """Pauses that are ends as often as a head says."""
    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    pauses = []
    for _ in range(count):
        heard = torch.randn(SHAPE, generator=generator) + 3
        end, length = rng.uniform(-6, 0), float(rng.choice(LENGTHS_MS))
        [sound] = head.sounds(heard.unsqueeze(0))
        is_end = rng.random() < head.rule.confidence(end, length, sound)
        pauses.append(HeardPause(corpus, heard, end, length, is_end))
    return pauses


@pytest.fixture(scope="module")
def true() -> TurnHead:
    weights = torch.randn(SHAPE, generator=torch.Generator().manual_seed(7)) * 0.6
    return TurnHead(weights, torch.full(SHAPE, 3.0), TRUE)


def test_a_fitted_head_hears_what_pauses_were_drawn_by(true: TurnHead) -> None:
    found = fit_turn_head(drawn(3000, true), penalty=0.0)
    likeness = torch.nn.functional.cosine_similarity(
        found.weights.flatten(), true.weights.flatten(), dim=0
    )
    assert likeness > 0.97
    assert found.rule.end == pytest.approx(TRUE.end, abs=0.25)


def test_frames_of_any_scale_are_fitted_alike(true: TurnHead) -> None:
    pauses = drawn(400, true)
    scale = torch.logspace(-2, 2, SHAPE[1])
    scaled = [replace(each, stretches=each.stretches * scale) for each in pauses]
    one, other = fit_turn_head(pauses), fit_turn_head(scaled)
    heard = torch.stack([each.stretches for each in pauses])
    assert one.sounds(heard) == pytest.approx(other.sounds(heard * scale), abs=0.05)


def test_how_often_a_corpus_ends_is_not_learnt(true: TurnHead) -> None:
    """Where two corpora sound apart, and one has hardly any pauses inside."""
    calm, busy = drawn(600, true), drawn(600, true, seed=1, corpus="b")
    few = [p for p in calm if not p.is_end][:20]
    apart = torch.zeros(SHAPE)
    apart[0, 0] = 8
    far = [replace(p, stretches=p.stretches + apart) for p in busy]
    found = fit_turn_head([*[p for p in calm if p.is_end], *few, *far])
    sounds = [found.sounds(torch.stack([p.stretches for p in some])) for some in (calm, far)]
    means = [sum(each) / len(each) for each in sounds]
    assert abs(means[0] - means[1]) < 0.8


def test_stretches_that_are_not_there_count_as_nothing(true: TurnHead) -> None:
    pauses = drawn(300, true)
    gone = pauses[0].stretches.clone()
    gone[0] = torch.nan
    found = fit_turn_head([*pauses[1:], replace(pauses[0], stretches=gone)])
    assert bool(found.weights.isfinite().all())
    assert bool(found.means.isfinite().all())


def test_ends_alone_teach_nothing(true: TurnHead) -> None:
    ends = [each for each in drawn(50, true) if each.is_end]
    with pytest.raises(TrainingError, match="wants ends, and pauses that are none"):
        fit_turn_head(ends)
