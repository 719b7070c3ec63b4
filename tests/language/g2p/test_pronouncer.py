"""Pronunciations: of the lexicon, or else read from the letters by a network."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_models import TINY, TINY_TOKENIZER

from earshot.language.g2p.letters_to_phones import (
    LETTERS_FILE,
    LettersConfig,
    LettersNetwork,
    LettersToPhones,
    letters_of,
    save_letters_to_phones,
)
from earshot.language.g2p.lexicon import (
    LEXICON_FILE,
    Lexicon,
    read_lexicon_text,
    write_lexicon_text,
)
from earshot.language.g2p.plain_letters import plain_letters
from earshot.language.g2p.pronouncer import Pronouncer, pronouncer_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.errors import (
    CheckpointError,
    NotACheckpoint,
    TokenizerError,
    UnencodableText,
)
from earshot.models.u2.u2 import U2Model

PHONES = ("A", "B")
LEXICON = "abba A B A\nabba A B\nb B\n"


def network(seed: int = 1) -> LettersNetwork:
    torch.manual_seed(seed)
    return LettersNetwork(len(PHONES), LettersConfig())


def test_a_word_is_said_as_the_lexicon_has_it() -> None:
    pronouncer = Pronouncer(Lexicon(LEXICON, PHONES), None)
    assert pronouncer.pronounce("ABBA") == ((1, 2, 1), (1, 2))
    with pytest.raises(UnencodableText, match="not in the model's lexicon"):
        pronouncer.pronounce("baba")


def test_other_words_are_read_out() -> None:
    letters = LettersToPhones(network())
    [said] = Pronouncer(Lexicon(LEXICON, PHONES), letters).pronounce("baba")
    assert said == letters.pronounce("baba")


def test_a_word_does_not_depend_on_others_beside_it() -> None:
    letters = LettersToPhones(network())
    words = [letters_of(word) for word in ("a", "extraordinarily", "don't")]
    assert letters.pronounce_all(words) == [letters.pronounce_all([word])[0] for word in words]


def test_many_words_are_said_as_each_of_them_alone() -> None:
    pronouncer = Pronouncer(Lexicon(LEXICON, PHONES), LettersToPhones(network()))
    words = ["abba", "baba", "Baab", "x" * 40, "3m"]
    assert pronouncer.pronounce_all(words) == {
        word: pronouncer.pronounce(word) for word in words if word != "3m"
    }


def test_letter_case_of_lexicon_and_word_is_no_matter() -> None:
    assert Lexicon("ABBA\tA B\nStraße B\n", PHONES).pronounce("abba") == ((1, 2),)
    assert Lexicon("ABBA A B\nStraße B\n", PHONES).pronounce("STRASSE") == ((2,),)


@pytest.mark.parametrize("word", ["Ábba", "abbå", "ABBA"])
def test_accents_are_no_matter_where_the_lexicon_has_none(word: str) -> None:
    assert Lexicon(LEXICON, PHONES).pronounce(word) == ((1, 2, 1), (1, 2))
    assert Lexicon("ábba B\nabba A\n", PHONES).pronounce("Ábba") == ((2,),)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Łódź", "lodz"),
        ("Æsop's", "aesop's"),
        ("hors d’œuvre", "hors d'oeuvre"),
        ("Straße 7", "strasse 7"),
    ],
)
def test_letters_are_taken_apart(text: str, plain: str) -> None:
    assert plain_letters(text) == plain


def test_letters_go_without_accents_case_and_hyphens() -> None:
    assert letters_of("Café-Bar") == letters_of("cafebar")
    assert letters_of("don\u2019t") == letters_of("don't")


@pytest.mark.parametrize(
    ("word", "why"),
    [("3m", "'3'"), ("", "nothing"), ("--'", "nothing"), ("a" * 65, "65 letters"), ("茶", "茶")],
)
def test_what_nobody_can_read_out_is_refused(word: str, why: str) -> None:
    with pytest.raises(UnencodableText, match=why):
        LettersToPhones(network()).pronounce(word)


def test_a_network_that_says_nothing_is_an_error() -> None:
    silent = network()
    with torch.no_grad():
        silent.head.ctc_lo.bias[:: len(PHONES) + 1] = 1e3
    with pytest.raises(UnencodableText, match="no pronunciation"):
        LettersToPhones(silent).pronounce("a")


@pytest.mark.parametrize("text", ["abba A C\n", "abba\n", "abba  \n", "b B\n\n"])
def test_a_broken_lexicon_names_its_line(text: str) -> None:
    with pytest.raises(TokenizerError, match="lexicon, line"):
        Lexicon(text, PHONES)


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    config = replace(TINY, phones=("A", "B"), phone_rate=2)
    save_model(tmp_path, U2Model(config), TINY_TOKENIZER, "phones")
    write_lexicon_text(tmp_path / LEXICON_FILE, LEXICON)
    save_letters_to_phones(tmp_path / LETTERS_FILE, network())
    return tmp_path


def test_a_model_directory_brings_its_pronunciations(model_dir: Path) -> None:
    pronouncer = pronouncer_of(load_model(model_dir))
    assert pronouncer is not None
    assert pronouncer.pronounce("b") == ((2,),)
    assert read_lexicon_text(model_dir / LEXICON_FILE) == LEXICON
    half = network().half().float()
    assert pronouncer.pronounce("baba") == (LettersToPhones(half).pronounce("baba"),)


def test_either_file_may_be_missing(model_dir: Path) -> None:
    (model_dir / LEXICON_FILE).unlink()
    letters_alone = pronouncer_of(load_model(model_dir))
    assert letters_alone is not None
    assert letters_alone.pronounce("b") == (
        LettersToPhones(network().half().float()).pronounce("b"),
    )
    (model_dir / LETTERS_FILE).unlink()
    assert pronouncer_of(load_model(model_dir)) is None


AXES = b'{"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}}'
SHAPELESS = len(AXES).to_bytes(8, "little") + AXES
"""A safetensors file of a tensor that there cannot be."""


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        (LEXICON_FILE, b"abba A B\n", TokenizerError),
        (LEXICON_FILE, lzma.compress(b"b B\n")[:-9], TokenizerError),
        (LEXICON_FILE, lzma.compress(b"\xff\xff"), TokenizerError),
        (LEXICON_FILE, lzma.compress(b"b Z\n"), TokenizerError),
        (LETTERS_FILE, b"x" * 99, NotACheckpoint),
        (LETTERS_FILE, SHAPELESS, NotACheckpoint),
    ],
)
def test_files_that_are_broken_are_refused_at_once(
    model_dir: Path, name: str, content: bytes, error: type[Exception]
) -> None:
    (model_dir / name).write_bytes(content)
    with pytest.raises(error, match=name):
        pronouncer_of(load_model(model_dir))


def test_a_network_of_other_phones_is_refused(model_dir: Path) -> None:
    save_letters_to_phones(model_dir / LETTERS_FILE, LettersNetwork(5, LettersConfig()))
    with pytest.raises(CheckpointError, match="2 phones: head"):
        pronouncer_of(load_model(model_dir))


def test_a_network_of_no_numbers_is_refused(model_dir: Path) -> None:
    damaged = network()
    with torch.no_grad():
        damaged.embed.weight[3] = torch.nan
    save_letters_to_phones(model_dir / LETTERS_FILE, damaged)
    with pytest.raises(CheckpointError, match=r"embed\.weight holds what is no finite number"):
        pronouncer_of(load_model(model_dir))


def test_an_initialism_is_said_letter_by_letter_where_the_lexicon_lacks_it() -> None:
    pronouncer = Pronouncer(Lexicon("t A\nb B A\nbtb B B\n", PHONES), None)
    assert pronouncer.pronounce_initialism("TBB") == (1, 2, 1, 2, 1)
    assert pronouncer.pronounce_initialism("BTB") == (2, 2)
    with pytest.raises(UnencodableText, match="'X'"):
        pronouncer.pronounce_initialism("BX")
