"""What a request may write as `lm`."""

import math

import pytest

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.lm_mix import LmMix, read_lm, show_lm


@pytest.mark.parametrize(("text", "choice"), [("on", True), ("OFF", False), (" on ", True)])
def test_on_and_off_speak_of_the_graphs_own_model(text: str, choice: bool) -> None:
    assert read_lm(text) is choice


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("tenant-7", (("tenant-7", 1.0),)),
        ("a:1", (("a", 1.0),)),
        ("a:0.7,b:0.3", (("a", 0.7), ("b", 0.3))),
        ("on:0.7,a:0.3", (("on", 0.7), ("a", 0.3))),
        ("a:.5, b:.25, c_:0.25", (("a", 0.5), ("b", 0.25), ("c_", 0.25))),
    ],
)
def test_models_come_by_name_with_their_weights(text: str, shares: object) -> None:
    found = read_lm(text)
    assert isinstance(found, LmMix)
    assert found.shares == shares
    assert read_lm(show_lm(found)) == found


def test_weights_of_two_digits_are_brought_to_one() -> None:
    mix = LmMix.read("a:0.33,b:0.33,c:0.33")
    assert math.isclose(sum(mix.weights), 1.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("true", "must be on, off, or a model"),
        ("Law", "must be on, off, or a model"),
        ("../law", "must be on, off, or a model"),
        ("a b", "must be on, off, or a model"),
        ("é", "must be on, off, or a model"),
        ("a" * 65, "must be on, off, or a model"),
        ("", "must be on, off, or a model"),
        ("on:1", "on alone takes no weight"),
        ("off:0.5,a:0.5", "must be on, off, or a model"),
        ("true:0.5,a:0.5", "must be on, off, or a model"),
        ("on:0.5,on:0.5", "twice"),
        ("a,b", "each needs a weight"),
        ("a:,b:1", "weight is missing"),
        ("a:.", "weight is missing"),
        ("a:0,b:1", "above 0"),
        ("a:0.5,b:0.4", "sum to 1"),
        ("a:2", "above 0"),
        ("a:-1,b:2", "must be on, off"),
        ("a:nan", "must be on, off"),
        ("a:1e0", "names with weights, such as a:0.7,b:0.3"),
        ("a:1:1", "must be on, off"),
        ("a:0.5,a:0.5", "twice"),
        (",", "each needs a weight"),
        (",".join(f"a{n}:0.2" for n in range(5)), "more than 4"),
        (",".join(f"a{n}:0.001" for n in range(1000)), "more than 4"),
    ],
)
def test_what_is_no_name_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidStreamConfig, match=why) as refusal:
        read_lm(text)
    assert len(str(refusal.value)) < 200


def test_the_graphs_own_model_stands_where_the_mix_has_it() -> None:
    mix = LmMix.read("a:0.5,on:0.25,b:0.25")
    assert mix.others == ("a", "b")
    assert mix.filled("own", ["first", "second"]) == ("first", "own", "second")


def test_shares_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidStreamConfig, match="above 0"):
        LmMix((("a", math.nan),))
    with pytest.raises(InvalidStreamConfig, match="1 to 4"):
        LmMix(())
