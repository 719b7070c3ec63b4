import pytest

from earshot.service.errors import BadRequest
from earshot.service.request.languages import Languages


@pytest.mark.parametrize("asked", ["zh", "zh-TW", "ZH_cn", "en"])
def test_a_region_is_no_matter(asked):
    assert Languages(("zh-CN", "en")).check(asked) is None


@pytest.mark.parametrize("asked", ["fr", "e", "enm", "auto", "-"])
def test_others_are_refused_with_those_that_are_served(asked):
    with pytest.raises(BadRequest, match=f"language={asked}: .* the model knows zh-CN, en"):
        Languages(("zh-CN", "en")).check(asked)


def test_the_model_is_asked_for_the_tag_that_it_serves():
    languages = Languages(("en-US", "zh-CN"))
    asked = (None, "en_us", "en-GB", "zh", "multi")
    assert [languages.choose(each) for each in asked] == [None, "en-US", "en-US", "zh-CN", None]


def test_a_model_that_does_not_say_what_it_knows_is_asked_for_what_was_asked():
    assert [Languages().choose(each) for each in (None, "fr_CA", "Multi")] == [None, "fr_CA", None]


def test_multi_is_served_with_a_warning():
    assert "everything is heard as en" in Languages(("en",)).check("multi").message


def test_a_model_that_does_not_say_what_it_knows_takes_any_with_a_warning():
    assert Languages().check(None) is None
    warning = Languages().check("fr")
    assert (warning.parameter, warning.type) == ("language", "unsupported_language")
    assert "does not say" in warning.message
