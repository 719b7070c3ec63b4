"""A transducer's language model as a part: what file makes one, and which streams may weigh it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from random_nemo import SYMBOLS, random_nemo

from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.parts.model_parts import ModelParts, read_parts
from earshot.streaming.parts.table import check_parameters, stream_fields
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM, LabelLm, lm_weight_of
from earshot.streaming.stream_config import StreamConfig

ARPA = """\\data\\
ngram 1={count}
ngram 2=1

\\1-grams:
-2 <unk>
-2 <s> -0.5
-2 </s>
{ones}
\\2-grams:
-0.5 {first} {first}

\\end\\
"""
HERE = frozenset({TRANSDUCER_LM.name})


def arpa(*words: str) -> str:
    ones = "".join(f"-1 {word} -0.25\n" for word in words)
    return ARPA.format(count=3 + len(words), ones=ones, first=words[0])


def fitted(path: Path, text: str) -> LabelLm:
    path.write_text(text)
    read = read_parts({"transducer_lm": path}, "cpu")
    found = ModelParts(random_nemo("chunks, rnnt"), read).get(TRANSDUCER_LM)
    assert found is not None
    return found


def test_it_is_described_by_what_it_holds(tmp_path: Path) -> None:
    spelled = fitted(tmp_path / "lm.arpa", arpa("一", "二", "a")).about
    assert (spelled.order, spelled.ngrams, spelled.labels, spelled.numbered) == (2, 7, 3, False)
    numbered = fitted(tmp_path / "lm.arpa", arpa(*map(chr, range(100, 100 + len(SYMBOLS))))).about
    assert (numbered.labels, numbered.numbered) == (len(SYMBOLS), True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", r"transducer_lm: lm\.arpa, line 1: the file ends here: it is not an ARPA file"),
        (arpa("一")[:-8], r"transducer_lm: lm\.arpa, line \d+: the file ends here"),
        (arpa("一").replace("-0.5 一 一", "-0.5 一 二"), r"line 12: '二' is not among the 1-grams"),
        (
            arpa("the", "cat"),
            r"lm\.arpa: it is no model of these labels: 2 of its 2 words",
        ),
    ],
)
def test_a_file_that_is_no_model_of_the_labels_is_named(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(InvalidEngineConfig, match=complaint):
        fitted(tmp_path / "lm.arpa", text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidEngineConfig, match=r"transducer_lm: none\.arpa: cannot be read: No"):
        read_parts({"transducer_lm": tmp_path / "none.arpa"}, "cpu")


def test_words_that_are_no_labels_are_counted_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        fitted(tmp_path / "lm.arpa", arpa(*SYMBOLS[:9]))
        assert caplog.messages == []
        fitted(tmp_path / "lm.arpa", arpa(*SYMBOLS[:9], "<pad>"))
    assert caplog.messages == ["transducer_lm: lm.arpa: words that are no labels (1): '<pad>'"]


def test_what_was_read_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "lm.arpa").write_text(arpa("一"))
    parts = ModelParts(
        random_nemo("chunks, rnnt"), read_parts({"transducer_lm": tmp_path / "lm.arpa"}, "cpu")
    )
    assert parts.get(TRANSDUCER_LM) is parts.get(TRANSDUCER_LM) is not None
    assert parts._read == {"transducer_lm": None}
    assert parts.names == HERE


@pytest.mark.parametrize(
    ("config", "weight"),
    [
        ({}, 0.3),
        ({"weights": {"transducer_lm": 0.0}}, 0.0),
        ({"weights": {"transducer_lm": 1.5}}, 1.5),
        ({"graph": GraphOptions(lm=True)}, 0.3),
        ({"graph": GraphOptions(lm=False)}, 0.0),
    ],
)
def test_a_stream_weighs_it_as_it_asks(config: dict, weight: float) -> None:
    assert lm_weight_of(StreamConfig(**config), 0.3) == weight


def test_a_request_names_its_weight() -> None:
    assert stream_fields({"transducer_lm_weight": 0.5})["weights"] == {"transducer_lm": 0.5}


@pytest.mark.parametrize(
    ("lm", "search", "present", "complaint"),
    [
        (None, "transducer_beam", frozenset(), "there is no language model of labels here"),
        (None, "transducer", HERE, "mode transducer_beam_search alone asks such a model"),
        (False, "transducer_beam", HERE, "transducer_lm_weight contradicts lm=off"),
    ],
)
def test_a_weight_in_vain_is_refused(
    lm: bool | None, search: str, present: frozenset[str], complaint: str
) -> None:
    config = StreamConfig(weights={"transducer_lm": 0.5}, graph=GraphOptions(lm=lm))
    with pytest.raises(InvalidStreamConfig, match=complaint):
        check_parameters(config, search, present)
