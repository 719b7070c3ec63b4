from pathlib import Path

import pytest

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.lexicon import lexicon_fst, read_lexicon

UNITS = {"x": 1, "y": 2}


def lexicon_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "lexicon.txt"
    path.write_text(text)
    return path


def test_words_may_have_several_spellings(tmp_path: Path) -> None:
    path = lexicon_file(tmp_path, "a x\n\nb\tx y\na y x\na x\n")
    assert read_lexicon(path, UNITS) == {"a": [(1,), (2, 1)], "b": [(1, 2)]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a x\nb z x\n", r"lexicon.txt, line 2: the model has no unit 'z', in the spelling of 'b'"),
        ("a\n", "line 1: 'a' has 0 units"),
        ("a" + " x" * 257, "line 1: 'a' has 257 units"),
        ("\n\n", "the lexicon is empty"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(GraphSourceError, match=complaint):
        read_lexicon(lexicon_file(tmp_path, text), UNITS)


def test_a_missing_lexicon_is_named(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match="cannot be read"):
        read_lexicon(tmp_path / "missing.txt", UNITS)


def last_labels(lexicon, texts_of_fst) -> dict[str, int]:
    """The disambiguation symbol after each word, counted from back-off; 0 if there is none."""
    word_ids = {word: i for i, word in enumerate(lexicon, start=1)}
    made = lexicon_fst(lexicon, word_ids, vocab_size=3, back_off=99)
    found = {}
    num_symbols = int(made.fst.ilabels.max()) + 1 - made.first_symbol
    for word, (spelling,) in lexicon.items():
        plain = [token + 1 for token in spelling]
        for symbol in range(num_symbols):
            labels = plain + [made.first_symbol + symbol] * bool(symbol)
            if (word_ids[word],) in texts_of_fst(made.fst, labels):
                found[word] = symbol
    return found


def test_only_words_that_could_be_confused_end_in_a_symbol(texts_of_fst) -> None:
    lexicon = {"x": [(1,)], "xy": [(1, 2)], "ex": [(1,)], "y": [(2,)], "ax": [(2, 1)], "z": [(0,)]}
    assert last_labels(lexicon, texts_of_fst) == {
        "x": 1,
        "ex": 2,
        "y": 1,
        "xy": 0,
        "ax": 0,
        "z": 0,
    }


def test_back_off_passes_where_a_word_may_begin(texts_of_fst) -> None:
    made = lexicon_fst({"a": [(1, 2)]}, {"a": 1}, vocab_size=3, back_off=99)
    assert made.first_symbol == 4
    assert texts_of_fst(made.fst, [4, 2, 3, 4]) == {(99, 1, 99): 0.0}
    assert texts_of_fst(made.fst, [2, 4, 3]) == {}
