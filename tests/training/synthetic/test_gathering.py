"""Published recordings of one voice, made a corpus."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earshot.training.__main__ import main
from earshot.training.corpus.manifest import read_speech
from earshot.training.errors import CorpusError
from earshot.training.files.audio_file import INT16_SCALE, read_samples
from earshot.training.synthetic.gathering import Source, gather


def tone(seconds: float, rate_hz: int) -> np.ndarray:
    time_s = np.arange(int(seconds * rate_hz)) / rate_hz
    return 0.2 * np.sin(2 * np.pi * 440 * time_s)


def record(path: Path, seconds: float = 1.0, rate_hz: int = 48_000, **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stereo = np.stack([tone(seconds, rate_hz)] * 2, axis=1)
    soundfile.write(path, stereo if not options else stereo[:, 0], rate_hz, **options)


@pytest.fixture
def beside(tmp_path: Path) -> Source:
    """Two recordings with a text beside each, of which one is not read as it is written."""
    for name, text in (("a/first", "Good\tmorning,\nall.\n"), ("second", "Don't say 7.")):
        record(tmp_path / "in" / f"{name}.wav")
        (tmp_path / "in" / f"{name}.txt").write_text(text, encoding="utf-8")
    return Source(tmp_path / "in", "tones", "ann")


def gathered(source: Source, out: Path) -> list[str]:
    """What was left out, and why."""
    told: list[str] = []
    gather(source, out, told.append)
    return told


def test_recordings_become_what_training_reads(beside: Source, tmp_path: Path) -> None:
    assert gathered(beside, tmp_path / "out") == ["left out second: who knows how '7' is read"]
    (utterance,) = read_speech(tmp_path / "out" / "manifest.tsv")
    assert (utterance.corpus, utterance.speaker) == ("tones", "ann")
    assert (utterance.text, utterance.seconds) == ("good morning all", 1.0)
    samples = read_samples(utterance.path, 16_000)
    assert samples.shape == (16_000,)
    assert samples.abs().max() / INT16_SCALE == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("suffix", "rate_hz"), [(".sln16", 16_000), (".gsm", 8_000)])
def test_asterisks_files_say_nothing_of_their_rate(
    tmp_path: Path, suffix: str, rate_hz: int
) -> None:
    subtype = "PCM_16" if suffix == ".sln16" else "GSM610"
    record(tmp_path / f"digits/7{suffix}", 0.5, rate_hz, format="RAW", subtype=subtype)
    (tmp_path / "texts").write_text("; a comment\ndigits/7: seven\n", encoding="utf-8")
    source = Source(tmp_path, "digits", "us", suffix, tmp_path / "texts")
    assert gathered(source, tmp_path / "out") == []
    (utterance,) = read_speech(tmp_path / "out" / "manifest.tsv")
    assert utterance.text == "seven"
    assert utterance.seconds == pytest.approx(0.5, abs=0.03)  # GSM comes in whole frames


def test_names_are_chosen_by_pattern(tmp_path: Path) -> None:
    names = ("digits/7", "digits/70", "letters/a", "hello")
    (tmp_path / "texts").write_text("".join(f"{name}: text\n" for name in names), encoding="utf-8")

    def chosen(**patterns: tuple[str, ...]) -> list[str]:
        source = Source(tmp_path, "c", "s", texts=tmp_path / "texts", **patterns)
        return [name for name, _ in source.named()]

    assert chosen(only=("digits/?",)) == ["digits/7"]
    assert chosen(leave_out=("digits/?", "letters/*")) == ["digits/70", "hello"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("press 12", "how '12' is read"),
        ("[beep]", "how '\\['"),
        ("AC", "how 'AC'"),
        ("say * now", "how '\\*'"),
        ("", "nobody says"),
    ],
)
def test_texts_that_are_not_read_as_written_are_left_out(
    tmp_path: Path, text: str, why: str
) -> None:
    for name in ("one", "two"):
        record(tmp_path / f"{name}.wav")
    (tmp_path / "texts").write_text(f"one: {text}\ntwo: P. T. Barnum's\n", encoding="utf-8")
    [told] = gathered(Source(tmp_path, "c", "s", texts=tmp_path / "texts"), tmp_path / "out")
    assert re.match(f"left out one: .*{why}", told)


def test_what_cannot_be_right_is_left_out_and_named(beside: Source, tmp_path: Path) -> None:
    for name, text in (("torn", "torn"), ("silent", "silent"), ("long", "no"), ("gone", "gone")):
        (beside.folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (beside.folder / "torn.wav").write_bytes(b"RIFF")
    soundfile.write(beside.folder / "silent.wav", np.zeros(16_000), 16_000)
    record(beside.folder / "long.wav", seconds=4.0)
    record(beside.folder / "untold.wav")
    record(beside.folder / "latin.wav")
    (beside.folder / "latin.txt").write_bytes("café".encode("latin-1"))
    left_out = [each.split()[2] for each in gathered(beside, tmp_path / "out")]
    assert left_out == ["latin:", "long:", "second:", "silent:", "torn:", "untold:"]
    assert len(read_speech(tmp_path / "out" / "manifest.tsv")) == 1


def test_corpora_are_added_to_one_manifest_each_once(beside: Source, tmp_path: Path) -> None:
    gathered(beside, tmp_path / "out")
    other = Source(beside.folder, beside.corpus, "bob")
    gathered(other, tmp_path / "out")
    assert [each.speaker for each in read_speech(tmp_path / "out" / "manifest.tsv")] == [
        "ann",
        "bob",
    ]
    with pytest.raises(CorpusError, match="has tones by ann already"):
        gathered(beside, tmp_path / "out")


def test_names_do_not_lead_out_of_the_folder(beside: Source, tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("../../one: one\nsecond: two\n", encoding="utf-8")
    source = Source(beside.folder, "c", "s", texts=tmp_path / "texts")
    assert gathered(source, tmp_path / "out") == ["left out ../../one: it is not below the folder"]
    for changed in ({"corpus": "../x"}, {"speaker": "a\tb"}):
        with pytest.raises(CorpusError, match="letters, digits"):
            replace(source, **changed)


def test_where_nothing_can_be_written_is_named(beside: Source, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(CorpusError, match="cannot write"):
        gathered(beside, tmp_path / "out")


def test_the_command_says_what_it_left_out(
    beside: Source, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (beside.folder / "second.txt").write_text("far too long for a second " * 5, encoding="utf-8")
    command = ["gather", str(beside.folder), "--corpus", "c", "--speaker", "s", "--output"]
    assert main([*command, str(tmp_path / "out")]) == 0
    assert "left out second: 1.00 s for 100 letters" in capsys.readouterr().out
    assert main([*command, str(tmp_path / "out")]) == 1
    assert main(["gather", str(tmp_path / "none"), *command[2:], str(tmp_path / "new")]) == 1
    assert "there is no folder" in capsys.readouterr().err
