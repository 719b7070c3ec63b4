"""Plans: each recording a pure function of its number."""

from __future__ import annotations

from collections import Counter

import pytest

from earshot.training.synthetic.errors import SynthesisError
from earshot.training.synthetic.plan import Plan, Prompt
from earshot.training.synthetic.sayings.saying import Saying
from earshot.training.synthetic.sentences import Sentences

SENTENCES = Sentences([Saying(f"the {word} one") for word in ("first", "second", "third")])


def prompts(plan: Plan, count: int) -> list[Prompt]:
    return [plan.prompt(index, SENTENCES) for index in range(count)]


def test_a_recording_depends_on_seed_and_number_alone() -> None:
    assert prompts(Plan(3), 50)[20:] == [Plan(3).prompt(i, SENTENCES) for i in range(20, 50)]
    assert prompts(Plan(3), 50) != prompts(Plan(4), 50)


def test_the_order_of_shares_changes_nothing() -> None:
    there = Plan(3, {"digits": 1.0, "names": 2.0}, {"espeak-ng": 1.0, "flite": 1.0})
    back = Plan(3, {"names": 2.0, "digits": 1.0}, {"flite": 1.0, "espeak-ng": 1.0})
    assert prompts(there, 20) == prompts(back, 20)


def test_shares_are_those_of_the_recordings() -> None:
    plan = Plan(3, {"digits": 1.0, "sentences": 3.0}, {"espeak-ng": 1.0, "flite": 4.0})
    drawn = prompts(plan, 2000)
    assert Counter(prompt.kind for prompt in drawn)["sentences"] == pytest.approx(1500, rel=0.07)
    assert Counter(prompt.engine for prompt in drawn)["flite"] == pytest.approx(1600, rel=0.07)
    assert len({prompt.speaker for prompt in drawn}) > 250


def test_factors_lie_in_their_ranges() -> None:
    plan = Plan(3, rate=(0.9, 1.1), pitch=(1.0, 1.0))
    for prompt in prompts(plan, 100):
        assert 0.9 <= prompt.delivery.rate <= 1.1
        assert prompt.delivery.pitch == 1.0


def test_sentences_come_in_turn() -> None:
    drawn = prompts(Plan(3, {"sentences": 1.0}), 4)
    assert [prompt.saying.text.split()[1] for prompt in drawn] == [
        "first", "second", "third", "first",
    ]  # fmt: skip


def test_a_corpus_is_named_by_kind_or_as_asked() -> None:
    assert Plan(1).corpus_of("names") == "synthetic-names"
    assert Plan(1, corpus="made").corpus_of("names") == "made"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kinds": {"poems": 1.0}}, "no kind poems; there are sentences, names"),
        ({"engines": {"hal": 1.0}}, "no engine hal; there are espeak-ng, flite, festival"),
        ({"kinds": {"names": 0.0}}, "shares above 0"),
        ({"engines": {"flite": float("nan")}}, "shares above 0"),
        ({"kinds": {}}, "shares above 0"),
        ({"rate": (1.2, 0.8)}, "rate: needs 0.5 <= low <= high <= 2"),
        ({"pitch": (0.1, 1.0)}, "pitch: needs"),
        ({"corpus": "a\tb"}, r"corpus 'a\\tb': letters, digits"),
        ({"corpus": ""}, "corpus '': letters, digits"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(SynthesisError, match=said):
        Plan(1, **changes)
