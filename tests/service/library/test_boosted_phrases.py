"""Phrases to boost, as programs give them."""

import warnings

import pytest

from earshot.service.library.boosted_phrases import boosts_of
from earshot.service.settings import Settings
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.stream_config import Boost

SETTINGS = Settings(boost_weight=3.0, max_phrases=4)


@pytest.mark.parametrize(
    ("keyterm", "made"),
    [
        ("brown sugar", (Boost("brown sugar", 3.0),)),
        (["Quilter:12", "at 10:30"], (Boost("Quilter", 12.0), Boost("at 10:30", 3.0))),
        ((), ()),
    ],
)
def test_a_keyterm_is_that_of_a_request(keyterm, made):
    assert boosts_of((), keyterm, SETTINGS) == made
    more = Boost("tea", 1.0)
    assert boosts_of(["ice", more], keyterm, SETTINGS) == (Boost("ice", 3.0), more, *made)


@pytest.mark.parametrize("keyterm", ["", [" "], "tea:nan", "tea:21", ["tea"] * 5])
def test_a_keyterm_that_makes_no_sense_is_refused(keyterm):
    with pytest.raises(InvalidStreamConfig, match=r"keyterm|boosted phrases"):
        boosts_of((), keyterm, SETTINGS)


def test_a_colon_without_a_weight_is_warned_of():
    def transcribe():
        return boosts_of((), "tea:ice", SETTINGS)

    with pytest.warns(UserWarning, match="tea:ice: what follows the colon is no weight") as told:
        transcribe()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        boosts_of((), "tea: ice", SETTINGS)
