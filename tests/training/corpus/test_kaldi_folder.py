"""Folders of speech as Kaldi has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.training.corpus.manifest import read_speech
from earshot.training.data.speech import load_speech
from earshot.training.errors import CorpusError

HALF_A_SECOND = np.full(8000, 0.1, np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two recordings, a transcript for one of them, paths from where the recipe runs."""
    data = tmp_path / "s5" / "data" / "train"
    data.mkdir(parents=True)
    for name in ("a", "b"):
        soundfile.write(tmp_path / "s5" / f"{name}.wav", HALF_A_SECOND, 16_000)
    write(data, "wav.scp", f"ann-1 a.wav\nbob-1\t{tmp_path / 's5' / 'b.wav'}\n")
    write(data, "text", "ann-1 GOOD  morning\n")
    write(data, "utt2spk", "ann-1 ann\nbob-1 bob\n")
    return data


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_recordings_have_their_texts_speakers_and_durations(folder: Path) -> None:
    ann, bob = read_speech(folder)
    assert (ann.corpus, ann.speaker, ann.seconds, ann.text) == ("train", "ann", 0.5, "good morning")
    assert (bob.speaker, bob.text, bob.path.name) == ("bob", "", "b.wav")


def test_paths_are_of_the_folder_first(folder: Path) -> None:
    soundfile.write(folder / "a.wav", HALF_A_SECOND, 16_000)
    assert read_speech(folder)[0].path == folder / "a.wav"


def test_durations_that_are_written_down_are_taken(folder: Path) -> None:
    write(folder, "utt2dur", "bob-1 7.25\n")
    assert [each.seconds for each in read_speech(folder)] == [0.5, 7.25]


def test_speakers_need_not_be_known(folder: Path) -> None:
    (folder / "utt2spk").unlink()
    assert {each.speaker for each in read_speech(folder)} == {"?"}


def test_a_folder_is_trained_on_as_a_manifest_is(folder: Path, tmp_path: Path) -> None:
    speech = load_speech(folder, tmp_path / "cache")
    assert [each.text for each in speech.utterances] == ["good morning"]
    assert speech.frame_count(0) > 40


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("wav.scp", "\n", "names no recording"),
        ("wav.scp", "ann-1 sph2pipe a.sph |\n", "write what a command makes to files first"),
        ("wav.scp", "ann-1\n", "'nothing' is no file"),
        ("wav.scp", "ann-1 c.wav\n", r"there is no .*c\.wav or .*c\.wav"),
        ("wav.scp", "ann-1 data/train/text\n", "is no audio"),
        ("text", "ann-1 one\nann-1 two\n", "line 2: ann-1 is there twice"),
        ("text", "cy-1 one\n", "wav.scp has no cy-1"),
        ("utt2dur", "ann-1 long\n", "ann-1 cannot last 'long' seconds"),
        ("utt2dur", "ann-1 inf\n", "cannot last"),
        ("segments", "ann-1 a 0.0 0.2\n", "cut its recordings into utterances first"),
    ],
)
def test_what_cannot_be_used_is_said(folder: Path, name: str, text: str, complaint: str) -> None:
    if name == "wav.scp":
        for other in ("text", "utt2spk"):
            (folder / other).unlink()
        write(folder, "text", "")
    write(folder, name, text)
    with pytest.raises(CorpusError, match=complaint):
        read_speech(folder)


def test_text_that_is_no_utf8_is_said(folder: Path) -> None:
    (folder / "text").write_bytes(b"ann-1 \xff\n")
    with pytest.raises(CorpusError, match="cannot read"):
        read_speech(folder)


def test_a_folder_without_recordings_is_said(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"wav\.scp"):
        read_speech(tmp_path)


def test_a_silent_file_is_said(folder: Path) -> None:
    soundfile.write(folder / "a.wav", HALF_A_SECOND[:0], 16_000)
    with pytest.raises(CorpusError, match="has no sound"):
        read_speech(folder)
