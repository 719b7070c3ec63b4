import pytest

from earshot.service.errors import BadPhrase, BadRequest
from earshot.service.request.boost_warnings import AskedPhrases, boost_warnings
from earshot.service.request.boosts import BoostRules, TooManyPhrases
from earshot.streaming.events import LimitedBoost
from earshot.streaming.stream_config import Boost

RULES = BoostRules(default_weight=3.0, max_phrases=4)


@pytest.mark.parametrize(
    ("text", "boost"),
    [
        ("iced coffee", Boost("iced coffee", 3.0)),
        ("iced coffee:2.5", Boost("iced coffee", 2.5)),
        ("decaf:-4", Boost("decaf", -4.0)),
        ("meet at 10:30", Boost("meet at 10:30", 3.0)),
        ("ratio: three", Boost("ratio: three", 3.0)),
        (" spaced : 2 ", Boost("spaced", 2.0)),
        ("half:+.5", Boost("half", 0.5)),
    ],
)
def test_a_keyterm_is_a_phrase_with_an_optional_weight(text, boost):
    assert RULES.parse([text], []) == (boost,)


@pytest.mark.parametrize(
    ("text", "boost"),
    [
        ("espresso", Boost("espresso", 3.0)),
        ("espresso:1.5", Boost("espresso", 1.5)),
        ("a:b:c:2", Boost("a:b:c", 2.0)),
        ("http://x:-1", Boost("http://x", -1.0)),
        ("10:30:2", Boost("10:30", 2.0)),
        ("half: +.5", Boost("half", 0.5)),
    ],
)
def test_a_keyword_takes_what_follows_its_last_colon_as_weight(text, boost):
    assert RULES.parse([], [text]) == (boost,)


@pytest.mark.parametrize(
    "text", ["a:b", "http://x", "word:", "word:nan", "word:inf", "word:1e9", "word:1_0", "word:٣"]
)
def test_a_bad_weight_is_named(text):
    with pytest.raises(BadRequest, match="keywords=") as caught:
        RULES.parse([], [text])
    assert "weight" in str(caught.value)


@pytest.mark.parametrize(
    ("keyterms", "keywords"),
    [(["x:1000"], []), (["x:-20.5"], [])],
)
def test_a_weight_of_a_keyterm_out_of_range_is_refused_as_that(keyterms, keywords):
    with pytest.raises(BadRequest, match="is not between -20 and 20"):
        RULES.parse(keyterms, keywords)


@pytest.mark.parametrize(
    ("text", "weight"), [("x:100", 20.0), ("x:-20.5", -20.0), ("x :1" + "0" * 400, 20.0)]
)
def test_a_weight_of_a_keyword_out_of_range_is_capped_and_named(text, weight):
    assert RULES.parse([], [text]) == (Boost("x", weight),)
    (warning,) = RULES.warnings([], ["tea", "tea:20", text])
    assert (warning.parameter, warning.type, warning.phrase) == ("keywords", "changed_value", "x")
    assert warning.message.endswith(f"counts as {weight:g}")


@pytest.mark.parametrize(("keyterms", "keywords"), [([""], []), ([], [":2"]), (["x" * 201], [])])
def test_empty_and_endless_phrases_are_refused(keyterms, keywords):
    with pytest.raises(BadRequest, match="phrase"):
        RULES.parse(keyterms, keywords)


def test_keyterms_and_keywords_share_one_limit():
    assert len(RULES.parse(["a", "b"], ["c", "d"])) == 4
    with pytest.raises(TooManyPhrases, match="5 boosted phrases, 4 are allowed"):
        RULES.parse(["a", "b"], ["c", "d", "e"])


def test_all_phrases_share_one_limit_of_characters():
    rules = BoostRules(max_chars=300)
    assert len(rules.parse(["x" * 150], ["y" * 150])) == 2
    with pytest.raises(TooManyPhrases, match="301 characters in all, 300 are allowed"):
        rules.parse(["x" * 150], ["y" * 151])


@pytest.mark.parametrize("weight", ["nan", "-inf", "Infinity", "1e9", "1.5e-3", "1.2.3"])
def test_a_number_that_is_no_weight_of_a_keyterm_is_named(weight):
    with pytest.raises(BadPhrase, match=f"keyterm=x: {weight}: the weight '{weight}' is not a num"):
        RULES.parse([f"x: {weight}"], [])


@pytest.mark.parametrize("text", ["x:abc", "New York:two"])
def test_a_colon_that_no_number_follows_is_said_to_belong_to_the_phrase(text):
    assert RULES.parse([text], []) == (Boost(text, 3.0),)
    (warning,) = RULES.warnings([text, "tea:2", "at 10:30", "ratio: three", "http://x"], [])
    assert (warning.parameter, warning.type, warning.phrase) == ("keyterm", "changed_value", text)
    assert warning.message == f"{text}: what follows the colon is no weight, but said"


def test_of_a_keyword_that_can_earn_less_than_the_cap_the_engine_alone_tells():
    rules, keywords = BoostRules(most_earned=9.0), ["x:50", "y:-50"]
    assert [warning.phrase for warning in rules.warnings([], keywords)] == ["y"]
    (told,) = boost_warnings([LimitedBoost("x", 20.0, 9.0, "word")], AskedPhrases.of([], keywords))
    assert told.message.startswith("x: the weight 50 counts as 9, the most that each of its words")


def test_of_a_keyword_in_a_beam_of_the_requests_own_the_cap_is_told():
    rules = BoostRules(most_earned=9.0)
    assert [warning.phrase for warning in rules.warnings([], ["x:50"], beam=100.0)] == ["x"]
