"""Which examples property tests draw: the same on every run, new ones where they are asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn(profile: str) -> list[int]:
    """What a run of a property test draws."""
    numbers = []

    @settings(settings.get_profile(profile), max_examples=20, database=None)
    @given(st.integers())
    def keep(number: int) -> None:
        numbers.append(number)

    keep()
    return numbers


def test_runs_draw_the_same_examples() -> None:
    assert drawn("same") == drawn("same")


@pytest.mark.parametrize("profile", ["fresh", "thousands"])
def test_these_profiles_draw_new_examples(profile: str) -> None:
    assert drawn(profile) != drawn(profile)
