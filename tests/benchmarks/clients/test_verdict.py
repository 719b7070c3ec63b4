"""What a client saw, judged."""

import json
from dataclasses import replace

import pytest

from benchmarks.clients.verdict import Heard, judge

WELL = Heard(
    said="we'd better not move him",
    partials=("we'd", "We'd better not"),
    finals=("We'd better", "not move him."),
    files=("we'd better not move him",),
    errors=("ApiError 400: no such model", "BadRequestError 400: no audio"),
)


def amiss(*heard: Heard) -> tuple[str, ...]:
    return judge(heard, texts=2, errors=2, has_partials=True).amiss


def test_a_client_that_gets_all_is_well_whatever_its_capitals_and_marks() -> None:
    verdict = judge([WELL, WELL], texts=2, errors=2, has_partials=True)
    assert verdict.amiss == ()
    assert (verdict.partials, verdict.wrong_words) == ("4", "0 %")
    assert verdict.errors == "`ApiError 400`, `BadRequestError 400`"


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ({"partials": ()}, "partials have 0 % of the words"),
        ({"partials": ("we'd", "we'd butter knots")}, "partials have 20 % of the words"),
        ({"files": ()}, "1 of 2 texts came"),
        ({"finals": ()}, "1 of 2 texts came"),
        ({"finals": ("move", "him")}, "60 % of a text's words are wrong"),
        ({"files": ("we'd better not prove hymns",)}, "40 % of a text's words are wrong"),
        ({"errors": WELL.errors[:1]}, "1 of 2 errors came"),
        ({"errors": (*WELL.errors, "ApiError 500: more")}, "3 of 2 errors came"),
    ],
)
def test_what_one_recording_lacks_is_amiss(lacking: dict[str, tuple[str, ...]], told: str) -> None:
    assert amiss(WELL, replace(WELL, **lacking)) == (told,)


def test_who_has_no_partials_lacks_none() -> None:
    silent = replace(WELL, partials=())
    verdict = judge([silent], texts=2, errors=2, has_partials=False)
    assert (verdict.partials, verdict.amiss) == ("it has none", ())


def test_the_last_line_is_what_was_seen() -> None:
    seen = {"partials": ["a"], "finals": ["a b"], "files": [], "errors": []}
    heard = Heard.of("a b", f"a client's own words\n{json.dumps(seen)}\n")
    assert (heard.partials, heard.finals, heard.wrong_words()) == (("a",), ("a b",), 0.0)


@pytest.mark.parametrize("printed", ["", "[]", "no JSON"])
def test_a_program_that_prints_nothing_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match=r"nothing that was seen|Expecting value"):
        Heard.of("a b", printed)
