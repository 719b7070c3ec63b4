"""Text to units and back, for characters and for real sentencepiece models."""

from pathlib import Path

import pytest
import sentencepiece
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.models.errors import TokenizerError, UnencodableText
from earshot.models.tokenizers.bpe import BpeTokenizer
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.model_tokenizer import load_tokenizer
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.models.tokenizers.wordpiece import WordpieceTokenizer

SPECIAL = ("<blank>", "<unk>", "<sos/eos>")
SENTENCES = [
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE",
    "IT WAS NOT SO MUCH THE LOSS OF THE COTTON ITSELF",
    "BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT",
    "HE THOUGHT OF THE FANTASTIC HOPES OF HIS FIRST LOVE",
    "THE GREATEST LOSS IS THE LOSS OF HOPE IT WAS SAID",
    "QUICK BROWN FOXES JUMP OVER LAZY DOGS AND VEXED ZEBRAS",
] * 20


def char_tokenizer(symbols: str) -> CharTokenizer:
    lines = [f"{symbol} {unit}" for unit, symbol in enumerate((*SPECIAL, *symbols))]
    return CharTokenizer(UnitTable.parse("\n".join(lines), "units.txt"))


@pytest.fixture(scope="session")
def bpe_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentencepiece model and a table of its tokens, in another order, with CJK characters."""
    folder = tmp_path_factory.mktemp("bpe")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(folder / "train_unigram60"),
        vocab_size=60,
        model_type="unigram",
        character_coverage=1.0,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(str(folder / "train_unigram60.model"))
    tokens = sorted(processor.id_to_piece(unit) for unit in range(3, len(processor)))
    lines = [f"{token} {unit}" for unit, token in enumerate((*SPECIAL, *tokens, "你", "好"))]
    (folder / "units.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def bpe(bpe_dir: Path) -> Tokenizer:
    return load_tokenizer(bpe_dir)


def test_characters_and_spaces_have_units():
    tokenizer = char_tokenizer("AB▁")
    assert tokenizer.encode("AB  BA") == [3, 4, 5, 4, 3]
    assert tokenizer.decode([3, 4, 5, 4, 3]) == "AB BA"
    assert tokenizer.vocab_size == 6
    assert tokenizer.token(5) == "▁"


def test_a_table_without_a_space_writes_none():
    assert char_tokenizer("你好").encode("你 好") == [3, 4]


@pytest.mark.parametrize("text", ["AbBa", "abba", "ABBA"])
def test_upper_case_models_take_any_casing(text):
    assert char_tokenizer("AB").encode(text) == [3, 4, 4, 3]


def test_lower_case_models_take_any_casing():
    assert char_tokenizer("ab").encode("AbBA") == [3, 4, 4, 3]


def test_casing_is_kept_where_the_model_knows_it():
    assert char_tokenizer("Aab").encode("Ab") == [3, 5]


def test_text_beyond_the_table_is_named_with_what_is_missing():
    with pytest.raises(UnencodableText, match=r"'AXB'.*no unit for 'X'") as caught:
        char_tokenizer("AB").encode("AXB")
    assert caught.value.text == "AXB"


@pytest.mark.parametrize("text", ["", "  ", "\t"])
def test_empty_text_is_refused(text):
    with pytest.raises(UnencodableText, match="nothing in it"):
        char_tokenizer("AB").encode(text)


def test_special_units_leave_no_text():
    assert char_tokenizer("AB").decode([0, 3, 1, 4, 2]) == "AB"


def test_special_units_cannot_be_written():
    lines = "\n".join(f"{symbol} {unit}" for unit, symbol in enumerate((*SPECIAL, "<", ">")))
    assert CharTokenizer(UnitTable.parse(lines, "t")).encode("<>") == [3, 4]
    with pytest.raises(UnencodableText):
        char_tokenizer("AB").encode("<unk>")


def test_words_of_characters_are_what_spaces_separate():
    tokenizer = char_tokenizer("AB▁")
    assert tokenizer.word_spans([3, 4, 5, 5, 4]) == [("AB", 0, 2), ("B", 4, 5)]
    assert tokenizer.word_spans([5, 3, 5]) == [("A", 1, 2)]
    assert tokenizer.word_spans([]) == []


def test_special_units_do_not_split_words():
    assert char_tokenizer("AB▁").word_spans([1, 3, 1, 4, 2]) == [("AB", 1, 4)]


def test_every_cjk_character_is_a_word():
    tokenizer = char_tokenizer("广州AB")
    assert tokenizer.word_spans([3, 4, 5, 6, 3]) == [
        ("广", 0, 1),
        ("州", 1, 2),
        ("AB", 2, 4),
        ("广", 4, 5),
    ]


def test_golden_tables_spell_wenets_texts(searched_golden):
    tokenizer = searched_golden.loaded.tokenizer
    for utterance in ("full_A", "full_B"):
        result = searched_golden.search[utterance]["greedy"]
        expected = result["text"].replace("▁", " ").replace("<unk>", "")
        assert tokenizer.decode(result["tokens"]) == " ".join(expected.split())


def test_bpe_uses_sentencepieces_segmentation_and_the_tables_ids(bpe, bpe_dir):
    processor = sentencepiece.SentencePieceProcessor(str(bpe_dir / "train_unigram60.model"))
    text = "THE FANTASTIC HOPES"
    tokens = processor.encode_as_pieces(text)
    units = bpe.encode(text)
    assert [bpe.token(unit) for unit in units] == tokens
    assert units != processor.encode(text), "the table's order differs from sentencepiece's"
    assert len(units) < len(text), "tokens, not characters"
    assert bpe.decode(units) == text


def test_bpe_takes_any_casing(bpe):
    assert bpe.encode("the fantastic hopes") == bpe.encode("THE FANTASTIC HOPES")


def test_bpe_splits_cjk_characters_off_first(bpe):
    units = bpe.encode("HOPES 你好 THE")
    tokens = [bpe.token(unit) for unit in units]
    assert tokens == [*bpe.split("HOPES"), "你", "好", *bpe.split("THE")]
    assert bpe.decode(units) == "HOPES你好 THE"
    assert [word for word, _, _ in bpe.word_spans(units)] == ["HOPES", "你", "好", "THE"]


@pytest.mark.parametrize("text", ["", " ", "▁", "▁ ▁"])
def test_what_falls_into_no_tokens_is_named(bpe, text):
    with pytest.raises(UnencodableText, match=f"cannot encode '{text}': there is nothing in it"):
        bpe.encode(text)


def test_bpe_names_what_it_cannot_write(bpe):
    with pytest.raises(UnencodableText, match="ROUTE 66"):
        bpe.encode("ROUTE 66")
    with pytest.raises(UnencodableText, match="坏"):
        bpe.encode("坏")


def test_bpe_words_cover_their_tokens(bpe):
    units = bpe.encode("GREATEST LOSS")
    spans = bpe.word_spans(units)
    assert [word for word, _, _ in spans] == ["GREATEST", "LOSS"]
    assert spans[0][1] == 0
    assert spans[0][2] == spans[1][1]
    assert spans[1][2] == len(units)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_words_and_text_agree_for_any_units(bpe, data):
    units = data.draw(st.lists(st.integers(0, bpe.vocab_size - 1), max_size=12))
    spans = bpe.word_spans(units)
    text = bpe.decode(units)
    assert "".join(word for word, _, _ in spans) == text.replace(" ", "")
    if not {"你", "好"} & {bpe.token(unit) for unit in units}:
        assert [word for word, _, _ in spans] == text.split()
    stops = [0, *(stop for _, _, stop in spans)]
    for (_, first, stop), previous in zip(spans, stops, strict=False):
        assert previous <= first < stop <= len(units)


@pytest.mark.parametrize("text", SENTENCES[:6])
def test_bpe_text_survives_a_round_trip(bpe, text):
    assert bpe.decode(bpe.encode(text)) == text


def test_a_saved_tokenizer_is_the_same(bpe, tmp_path):
    bpe.save(tmp_path)
    again = load_tokenizer(tmp_path)
    assert isinstance(again, BpeTokenizer)
    assert again.encode(SENTENCES[0]) == bpe.encode(SENTENCES[0])
    (tmp_path / "bpe.model").unlink()
    assert isinstance(load_tokenizer(tmp_path), CharTokenizer)


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"\x00" * 100])
def test_a_broken_sentencepiece_model_is_named(tmp_path, content):
    (tmp_path / "units.txt").write_text("A 0\n")
    (tmp_path / "bpe.model").write_bytes(content)
    with pytest.raises(TokenizerError, match=r"bpe\.model"):
        load_tokenizer(tmp_path)


def test_two_sentencepiece_models_are_one_too_many(tmp_path):
    (tmp_path / "units.txt").write_text("A 0\n")
    (tmp_path / "a.model").write_bytes(b"")
    (tmp_path / "b.model").write_bytes(b"")
    with pytest.raises(TokenizerError, match=r"a\.model, b\.model"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("symbols", "cased"),
    [("abcA", True), ("abcD", False), ("ABC", False), ("一二", False), ("éÉ", True)],
)
def test_a_letter_in_both_cases_makes_a_table_cased(symbols, cased):
    assert char_tokenizer(symbols).is_cased is cased


def test_names_of_marks_and_bytes_are_no_letters():
    pieces = ["[UNK]", "u", "n", "k"]
    assert not WordpieceTokenizer(pieces, "vocab.txt").is_cased
    assert WordpieceTokenizer([*pieces, "##K"], "vocab.txt").is_cased
    assert not char_tokenizer("unk").is_cased
    assert not CharTokenizer(UnitTable.of(["<0xEA>", "e", "a"], "bytes")).is_cased
