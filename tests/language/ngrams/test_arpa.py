import gzip
from pathlib import Path

import pytest
from arpa_sections import SECTIONS
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.ngrams.arpa import MAX_LINE_BYTES, MAX_NGRAMS, NGram, read_arpa

BIGRAM = (
    r"""made by hand

\data\
ngram 1=4
ngram  2 = 2
"""
    + SECTIONS
)


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "lm.arpa"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_ngrams_of_each_order_are_read(tmp_path: Path) -> None:
    arpa = read_arpa(written(tmp_path, BIGRAM))
    assert arpa.words == ["<s>", "</s>", "a", "naïve"]
    assert arpa.order == 2
    assert arpa.orders[0] == {
        (0,): NGram(-99.0, -0.5),
        (1,): NGram(-1.0, 0.0),
        (2,): NGram(-0.25, 0.125),
        (3,): NGram(-99.0, 0.0),
    }
    assert arpa.orders[1] == {(0, 2): NGram(-0.5, 0.0), (2, 1): NGram(-0.75, 0.0)}


def test_gzip_windows_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    plain = read_arpa(written(tmp_path, BIGRAM))
    assert read_arpa(written(tmp_path, BIGRAM.replace("\n", "\r\n"))) == plain
    assert read_arpa(written(tmp_path, gzip.compress(BIGRAM.encode()))) == plain
    marked = BIGRAM[BIGRAM.index("\\data") :].encode("utf-8-sig")
    assert read_arpa(written(tmp_path, marked)) == plain


def test_space_within_a_word_that_is_not_ascii_stays(tmp_path: Path) -> None:
    arpa = read_arpa(written(tmp_path, BIGRAM.replace("naïve", "na\u00a0ve")))
    assert arpa.words[3] == "na\u00a0ve"


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ("\\data\\", "data", 19, "cut off"),
        ("\\end\\\nwhat follows is not read\n", "", 17, "cut off"),
        ("ngram 1=4\nngram  2 = 2", "", 6, "the model is empty"),
        ("ngram 1=4", "ngram 1=0", 7, "the model is empty"),
        ("ngram 1=4", "ngram 1=5", 13, "4 1-grams, 5 were announced"),
        ("ngram 1=4", f"ngram 1={MAX_NGRAMS}", 7, "prune the model"),
        ("ngram 1=4", "ngram 2=4", 4, "is not 'ngram 1=<count>'"),
        ("ngram  2 = 2", "ngram 2=many", 5, "is not 'ngram 2=<count>'"),
        ("\\2-grams", "\\3-grams", 13, "where .2-grams: should stand"),
        ("\\end\\", "\\3-grams:", 17, "where .end. should stand"),
        ("-0.5\t<s> a", "-0.5\t<s>", 14, "is not a 2-gram"),
        ("-0.5\t<s> a", "-0.5\t<s> a -1.0", 14, "is not a 2-gram"),
        ("-0.5\t<s> a", "-0.5\t<s> b", 14, "'b' is not among the 1-grams"),
        ("-0.75 a </s>", "-0.75 <s> a", 15, "was there before"),
        ("-0.25\ta", "-0.x\ta", 10, "'-0.x' is not a logarithm"),
        ("-0.25\ta", "nan\ta", 10, "'nan' is not a logarithm"),
        ("-0.25\ta", "0.25\ta", 10, "no such probability"),
        ("a\t0.125", "a\tinf", 10, "'inf' is not a logarithm"),
        ("a\t0.125", "a\t-inf", 10, "no such probability"),
        ("a\t0.125", "a\t30", 10, "no such probability"),
        ("made by hand", "x" * (MAX_LINE_BYTES + 1), 1, "not an ARPA file"),
    ],
)
def test_faults_are_named_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, complaint: str
) -> None:
    assert BIGRAM.count(old) == 1
    with pytest.raises(GraphSourceError, match=complaint) as caught:
        read_arpa(written(tmp_path, BIGRAM.replace(old, new)))
    assert caught.value.line == line
    assert f"lm.arpa, line {line}: " in str(caught.value)


def test_a_word_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match=r"line 11: .* is not UTF-8"):
        read_arpa(written(tmp_path, BIGRAM.encode().replace(b"na\xc3", b"na\xff")))


@pytest.mark.parametrize("text", ["", "\n\n", "words of a book"])
def test_what_is_no_arpa_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(GraphSourceError, match="not an ARPA file"):
        read_arpa(written(tmp_path, text))


def test_a_missing_file_and_a_cut_off_gzip_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match="cannot be read"):
        read_arpa(tmp_path / "missing.arpa")
    with pytest.raises(GraphSourceError, match="cannot be read"):
        read_arpa(written(tmp_path, gzip.compress(BIGRAM.encode())[:-12]))


@given(at=st.integers(0, len(BIGRAM)), count=st.integers(0, 8), new=st.binary(max_size=8))
def test_damage_anywhere_is_read_or_refused(tmp_path_factory, at, count, new) -> None:
    damaged = BIGRAM.encode()
    damaged = damaged[:at] + new + damaged[at + count :]
    path = tmp_path_factory.mktemp("arpa") / "lm.arpa"
    path.write_bytes(damaged)
    try:
        arpa = read_arpa(path)
    except GraphSourceError:
        return
    assert all(
        word < len(arpa.words) for ngrams in arpa.orders for words in ngrams for word in words
    )
