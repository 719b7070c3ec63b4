"""Labels by their spellings or by NeMo's characters of their numbers, and models of neither."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.ngrams.arpa import Arpa, read_arpa
from earshot.language.ngrams.label_words import FIRST_CODE, label_words
from earshot.language.ngrams.token_lm import token_lm_of

MARKS = ["<unk>", "<s>", "</s>"]
PIECES = ["<unk>", *(f"▁w{number}" for number in range(60)), "d", "e", "f"]


def numbered(*labels: int) -> list[str]:
    return [chr(FIRST_CODE + label) for label in labels]


def test_spellings_are_taken_as_they_are() -> None:
    found = label_words([*MARKS, "▁w3", "e"], PIECES)
    assert not found.numbered
    assert found.strange == ()
    assert {word for word in found.words if word is not None} == {"<unk>", "▁w3", "e"}
    assert found.words[4] == "▁w3"
    assert found.known == 3


def test_nemos_characters_stand_for_numbers() -> None:
    """The first of all is `d`, which spells another label."""
    found = label_words([*MARKS, *numbered(0, 5, 33, 63)], PIECES)
    assert found.numbered
    assert [place for place, word in enumerate(found.words) if word is not None] == [0, 5, 33, 63]
    assert found.words[0] == "d"
    assert found.words[33] == chr(133)


def test_what_may_be_both_is_read_by_its_spelling() -> None:
    found = label_words([*MARKS, "d", "f"], PIECES)
    assert not found.numbered
    assert found.words[PIECES.index("d")] == "d"
    assert found.words[0] == "<unk>"


@pytest.mark.parametrize("stranger", [chr(FIRST_CODE - 1), chr(FIRST_CODE + len(PIECES)), "dd"])
def test_one_word_that_is_no_number_of_a_label_makes_none_of_them_one(stranger: str) -> None:
    with pytest.raises(GraphSourceError, match=r"1 of its 41 words \(2 %; ") as refusal:
        label_words([*MARKS, *numbered(*range(40)), stranger], PIECES)
    assert repr(stranger) in str(refusal.value)
    assert "38 of its 41 words (93 %; 'g', 'h', 'i', 'j', 'k') spell none" in str(refusal.value)


@pytest.mark.parametrize(("strange", "refused"), [(1, False), (2, True)])
def test_a_tenth_of_the_words_may_stand_for_no_label(strange: int, refused: bool) -> None:
    words = [*MARKS, *PIECES[1:11][strange:], *(f"marked{place}" for place in range(strange))]
    if refused:
        with pytest.raises(GraphSourceError, match=r"2 of its 10 words \(20 %; 'marked0', "):
            label_words(words, PIECES)
    else:
        assert label_words(words, PIECES).strange == ("marked0",)


@pytest.mark.parametrize("words", [[], MARKS])
def test_a_model_without_words_is_refused(words: list[str]) -> None:
    with pytest.raises(GraphSourceError, match="no words"):
        label_words(words, PIECES)


@given(st.lists(st.integers(0, 99), min_size=1, unique=True), st.integers(64, 100))
def test_numbers_are_read_back_whatever_they_are(ids: list[int], size: int) -> None:
    """With labels whose spellings no character is."""
    labels = [f"▁{place}" for place in range(size)]
    words = [*MARKS, *numbered(*ids)]
    if max(ids) >= size:
        with pytest.raises(GraphSourceError):
            label_words(words, labels)
        return
    known = [place for place, word in enumerate(label_words(words, labels).words) if word]
    assert known == sorted(ids)


def arpa_of(tmp_path: Path, words: list[str]) -> Arpa:
    """Each word likelier than the one before it, and the first pair known."""
    ones = "".join(f"-{9 - place} {word} -0.5\n" for place, word in enumerate(words))
    path = tmp_path / "lm.arpa"
    path.write_text(
        f"\\data\\\nngram 1={2 + len(words)}\nngram 2=1\n\n\\1-grams:\n-9 <unk>\n-9 <s> -0.25\n"
        f"{ones}\n\\2-grams:\n-0.125 {words[0]} {words[1]}\n\n\\end\\\n"
    )
    return read_arpa(path)


def test_one_model_written_both_ways_is_one(tmp_path: Path) -> None:
    ids = [3, 33, 61, 60]
    spelled = token_lm_of(arpa_of(tmp_path, [PIECES[label] for label in ids]), PIECES)
    numbers = token_lm_of(arpa_of(tmp_path, numbered(*ids)), PIECES)
    assert spelled.log_prob.tolist() == numbers.log_prob.tolist()
    assert spelled.token.tolist() == numbers.token.tolist()
    assert spelled.target.tolist() == numbers.target.tolist()
    assert float(numbers.log_prob[33]) == pytest.approx(-8 * math.log(10))


def test_a_text_of_pieces_whose_word_starts_were_cleaned_away_is_told_how_to_keep_them() -> None:
    with pytest.raises(GraphSourceError, match=r"none .* has the ▁ .*`earshot lm build --as-is`"):
        label_words([*MARKS, "w1", "w2", "d"], PIECES)
    with pytest.raises(GraphSourceError) as refusal:
        label_words([*MARKS, "▁other", "▁words"], PIECES)
    assert "--as-is" not in str(refusal.value)
