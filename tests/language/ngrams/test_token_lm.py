"""An ARPA model as a beam fuses it: what it costs to say a label, walked state by state."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from earshot.decoder_kernels.errors import GraphSourceError, InvalidConfig
from earshot.decoder_kernels.transducer.token_lm import TokenLm
from earshot.language.ngrams.arpa import read_arpa
from earshot.language.ngrams.token_lm import token_lm_of

ARPA = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-99 <s> -0.5
-1.0 </s>
-2.0 <unk>
-0.3 a -0.25
-0.7 b -0.125

\\2-grams:
-0.1 <s> a -0.75
-0.2 a b -0.375
-0.6 b a

\\3-grams:
-0.05 <s> a b

\\end\\
"""


@pytest.fixture
def model(tmp_path: Path) -> TokenLm:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    return token_lm_of(read_arpa(path), ["b", "a", "never"])


def costs(model: TokenLm, labels: Sequence[int]) -> list[float]:
    """Log10 of each label after those before it."""
    found, state = [], model.start
    for label in labels:
        log_prob, state = step(model, state, label)
        found.append(log_prob / math.log(10))
    return found


def step(model: TokenLm, state: int, label: int) -> tuple[float, int]:
    lost = 0.0
    while True:
        arcs = slice(int(model.first_arc[state]), int(model.first_arc[state + 1]))
        places = (model.token[arcs] == label).nonzero()
        if len(places):
            place = arcs.start + int(places[0])
            return lost + float(model.log_prob[place]), int(model.target[place])
        lost += float(model.back_off[state])
        state = int(model.shorter[state])


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([1, 0, 1], [-0.1, -0.05, -0.375 - 0.6]),
        ([0, 0], [-0.5 - 0.7, -0.125 - 0.7]),
        ([1, 1], [-0.1, -0.75 - 0.25 - 0.3]),
        ([2, 1], [-0.5 - 2.0, -0.3]),
    ],
)
def test_the_longest_known_context_is_asked_and_each_that_is_not_costs_its_back_off(
    model: TokenLm, labels: list[int], wanted: list[float]
) -> None:
    assert costs(model, labels) == pytest.approx(wanted, abs=1e-6)


def test_a_model_of_other_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    with pytest.raises(GraphSourceError, match="no model of these labels"):
        token_lm_of(read_arpa(path), ["x", "y"])


def test_a_model_of_one_order_has_one_state(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text("\\data\\\nngram 1=1\n\n\\1-grams:\n-0.3 a\n\n\\end\\\n")
    assert costs(token_lm_of(read_arpa(path), ["a"]), [0, 0]) == pytest.approx([-0.3, -0.3])


ints, floats = torch.int32, torch.float32


@pytest.mark.parametrize(
    "wrong",
    [
        {"first_arc": [0]},
        {"first_arc": [1, 1]},
        {"first_arc": [0, 2]},
        {"token": [1]},
        {"target": [1]},
        {"start": 1},
        {"back_off": [0.0, 0.0]},
    ],
)
def test_arrays_that_are_of_no_model_are_refused(wrong: dict[str, list[float] | int]) -> None:
    given = {"first_arc": [0, 1], "token": [0], "target": [0], "log_prob": [-1.0], "shorter": [0],
             "back_off": [0.0], "start": 0} | wrong  # fmt: skip
    start = given.pop("start")
    with pytest.raises(InvalidConfig):
        TokenLm(**{name: torch.tensor(each) for name, each in given.items()}, start=start)


def test_a_back_off_beyond_a_floats_range_is_never(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA.replace("-0.3 a -0.25", "-0.3 a -1e308"))
    model = token_lm_of(read_arpa(path), ["b", "a", "never"])
    assert bool(model.back_off.isfinite().all())
    assert float(model.back_off.min()) == pytest.approx(-99 * math.log(10))


def test_labels_of_one_spelling_have_its_n_grams_each(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    model = token_lm_of(read_arpa(path), ["b", "a", "b"])
    assert costs(model, [1, 0]) == costs(model, [1, 2])


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"back_off": torch.full((1,), -math.inf)}, "finite"),
        ({"log_prob": torch.tensor([-1.0, math.nan])}, "finite"),
    ],
)
def test_logarithms_that_are_not_finite_are_refused(
    changed: dict[str, torch.Tensor], complaint: str
) -> None:
    numbers = {"log_prob": torch.tensor([-1.0, -2.0]), "back_off": torch.zeros(1)} | changed
    with pytest.raises(InvalidConfig, match=complaint):
        TokenLm(
            torch.tensor([0, 2]),
            torch.tensor([0, 1]),
            torch.tensor([0, 0]),
            numbers["log_prob"],
            torch.tensor([0]),
            numbers["back_off"],
            0,
        )


def test_arcs_out_of_their_labels_order_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="by their labels"):
        TokenLm(
            torch.tensor([0, 2, 4]),
            torch.tensor([0, 1, 1, 0]),
            torch.tensor([0, 1, 0, 0]),
            torch.zeros(4),
            torch.tensor([0, 0]),
            torch.zeros(2),
            0,
        )
