"""Published collections of sentences, made one text that says nothing models are measured on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from earshot.training.__main__ import main
from earshot.training.errors import CorpusError
from earshot.training.texts.sentences import FORMATS, Collection, write_sentences

DIALOGUE = {
    "turns": [
        {"speaker": "USER", "utterance": "Book a table."},
        {"speaker": "SYSTEM", "utterance": "Where?"},
        {"speaker": "USER", "utterance": "At the river."},
    ]
}
CONTENTS = {
    "lines": ("Go home.\nStay here.\n", ["Go home.", "Stay here."]),
    "tsv": ("Go.\tVa !\tCC-BY\nRun.\tCours !\n", ["Go.", "Run."]),
    "csv": ('text,intent\n"Hi, where is it?",card\nPay,pay\n', ["Hi, where is it?", "Pay"]),
    "intents": (
        json.dumps({"train": [["say hi", "a"]], "test": [["bye", "b"]]}),
        ["say hi", "bye"],
    ),
    "fragments": (
        json.dumps({"Play": [{"data": [{"text": "play "}, {"text": "jazz", "entity": "genre"}]}]}),
        ["play jazz"],
    ),
    "dialogues": (json.dumps([DIALOGUE]), ["Book a table.", "At the river."]),
}


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_sentences_are_found_in_each_format(form: str, tmp_path: Path) -> None:
    text, sentences = CONTENTS[form]
    put(tmp_path, "a", text)
    assert list(Collection(form, f"{tmp_path}/*").sentences()) == sentences


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("intents", "{"),
        ("intents", "[1]"),
        ("intents", '{"train": [["one", "two", "three"]]}'),
        ("intents", '{"train": [[1, "number"]]}'),
        ("csv", "text\n" + "x" * 200_000),
        ("fragments", '{"Play": [{"words": []}]}'),
        ("fragments", '{"Play": 3}'),
        ("dialogues", '{"turns": []}'),
        ("dialogues", '[{"turns": [{"speaker": "USER"}]}]'),
    ],
)
def test_another_format_is_named(form: str, text: str, tmp_path: Path) -> None:
    path = put(tmp_path, "a.json", text)
    with pytest.raises(CorpusError, match=f"{path} does not have the format {form}"):
        list(Collection(form, str(path)).sentences())


@pytest.mark.parametrize("text", ["lines", "lines=", "words=a.txt", "=a.txt"])
def test_what_is_no_collection_is_refused(text: str) -> None:
    with pytest.raises(CorpusError, match="is not FORMAT=PATTERN with a format of lines, tsv"):
        Collection.parse(text)


def test_every_eighth_sentence_is_held_out_and_none_comes_twice(tmp_path: Path) -> None:
    said = [f"Sentence {n}." for n in range(20)]
    put(tmp_path / "in", "b", "\n".join(said[10:]))
    put(tmp_path / "in", "a", "\n".join([*said[:12], "", "Sentence  3."]))
    collections = [Collection("lines", f"{tmp_path}/in/*")]
    assert write_sentences(collections, tmp_path / "out", "daily") == (20, 0)
    learnt, held_out = (
        (tmp_path / "out" / f"daily{ending}").read_text().splitlines()
        for ending in (".txt", ".held_out.txt")
    )
    assert held_out == [said[0], said[8], said[16]]
    assert learnt == [each for each in said if each not in held_out]


def test_what_the_manifest_says_is_left_out(capsys, tmp_path: Path) -> None:
    columns = "path\tcorpus\tspeaker\tseconds\ttext\tslots"
    row = "a.opus\tread\tann\t3.0\tkate loves china\t"
    manifest = put(tmp_path, "dev.tsv", f"{columns}\n{row}\n")
    lines = "Kate loves China!\nOh? Kate loves China. Well.\nKate loves china tea.\nGo.\n"
    put(tmp_path, "a.txt", lines)
    command = ["sentences", "daily", f"lines={tmp_path}/*.txt", "--output", str(tmp_path / "out")]
    assert main([*command, "--unlike", str(manifest)]) == 0
    assert "2 sentences of daily; left out: 2 that" in capsys.readouterr().out
    assert (tmp_path / "out" / "daily.txt").read_text() == "Go.\n"
    assert (tmp_path / "out" / "daily.held_out.txt").read_text() == "Kate loves china tea.\n"


def test_nothing_to_read_or_to_write_is_an_error(capsys, tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "\n\n")
    command = ["sentences", "daily", "--output", str(tmp_path / "out")]
    assert main([*command, f"lines={tmp_path}/*.md"]) == 1
    assert "no file is named like" in capsys.readouterr().err
    assert main([*command, f"lines={tmp_path}/*.txt"]) == 1
    assert "there is no sentence left" in capsys.readouterr().err
    put(tmp_path, "b.txt", "Go.")
    put(tmp_path, "out", "")
    assert main([*command, f"lines={tmp_path}/*.txt"]) == 1
    assert "cannot write to" in capsys.readouterr().err
    assert main([*command, f"lines={tmp_path}"]) == 1
    assert "cannot read" in capsys.readouterr().err
