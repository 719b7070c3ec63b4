import pytest

from earshot.streaming.language_tags import served_tag

SERVED = ("en-US", "de", "zh-CN", "zh-TW")


@pytest.mark.parametrize(("asked", "tag"), [("de", "de"), ("ZH_tw", "zh-TW"), ("en-us", "en-US")])
def test_the_same_tag_in_any_spelling_comes_first(asked, tag):
    assert served_tag(asked, SERVED) == tag


@pytest.mark.parametrize(("asked", "tag"), [("en-GB", "en-US"), ("de-AT", "de"), ("zh", "zh-CN")])
def test_else_the_first_of_the_same_language_is_meant(asked, tag):
    assert served_tag(asked, SERVED) == tag


@pytest.mark.parametrize("asked", ["fr", "e", "eng", "-", ""])
def test_another_language_is_none_of_them(asked):
    assert served_tag(asked, SERVED) is None
    assert served_tag(asked, ()) is None
