"""Manifests of speech and of noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.corpus.manifest import read_noise, read_speech
from earshot.training.errors import CorpusError


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "train.tsv"
    manifest.write_text(
        "path\tcorpus\tspeaker\tseconds\ttext\tslots\n"
        'audio/a.opus\tcoffee\t?\t2.5\tI\'d like "one"\t{"n": "1"}\n',
        encoding="utf-8",
    )
    (utterance,) = read_speech(manifest)
    assert utterance.path == tmp_path / "audio" / "a.opus"
    assert (utterance.corpus, utterance.seconds) == ("coffee", 2.5)
    assert utterance.text == "i'd like one"


def test_room_responses_are_no_noise(tmp_path: Path) -> None:
    manifest = tmp_path / "noise.tsv"
    manifest.write_text(
        "path\tkind\tset\tseconds\ndog.opus\tnoise\tesc10\t5.0\nhall.flac\trir\tsurrey\t1.0\n",
        encoding="utf-8",
    )
    assert [noise.path.name for noise in read_noise(manifest)] == ["dog.opus"]


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nowhere\.tsv"):
        read_speech(tmp_path / "nowhere.tsv")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "train.tsv"
    manifest.write_text("path\tcorpus\tspeaker\ttext\na.opus\tc\ts\tone\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="seconds"):
        read_speech(manifest)


def test_no_dev_speaker_is_in_train(speech_dir: Path) -> None:
    named = [
        {(u.corpus, u.speaker) for u in read_speech(speech_dir / name) if u.speaker != "?"}
        for name in ("train.tsv", "dev.tsv")
    ]
    assert len(named[1]) == 18
    assert not named[0] & named[1]


HEADER = "path\tcorpus\tspeaker\tseconds\ttext\n"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (HEADER + "a.opus\tc\ts\tsoon\tone\n", r"a\.opus cannot last 'soon' seconds"),
        (HEADER + "a.opus\tc\ts\tnan\tone\n", "cannot last 'nan'"),
        (HEADER + "a.opus\tc\ts\t-1\tone\n", "cannot last '-1'"),
        (HEADER + "a.opus\tc\ts\t1.0\tone\na.opus\tc\n", "line 3: 2 values for 5 names"),
        (HEADER + "a.opus\tc\ts\t1.0\tone\ttwo\n", "line 2: 6 values for 5 names"),
        (HEADER, "names no recording"),
        ("", "lacks the columns"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    manifest = tmp_path / "train.tsv"
    manifest.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"train\.tsv.*{complaint}"):
        read_speech(manifest)


def test_a_manifest_that_is_no_text_is_refused(tmp_path: Path) -> None:
    for content in (HEADER.encode() + b"\xff\xfe\n", b"a" * 200_000):
        (tmp_path / "train.tsv").write_bytes(content)
        with pytest.raises(CorpusError, match=r"cannot read .*train\.tsv"):
            read_speech(tmp_path / "train.tsv")
    with pytest.raises(CorpusError, match="cannot read"):
        read_speech(tmp_path)
