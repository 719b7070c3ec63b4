"""`earshot synthesize`, with engines that buzz."""

from pathlib import Path

import pytest

from earshot.service.commands.cli import main
from earshot.training.corpus.manifest import read_speech

pytestmark = pytest.mark.usefixtures("fake_engines")


def synthesize(*words: object) -> int:
    return main(["synthesize", *map(str, words)])


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("On May 5 he paid $3.\nIt was 1/2 of it.\n", encoding="utf-8")
    return path


def test_a_corpus_is_made_and_summed_up(capsys, tmp_path, text) -> None:
    folder = tmp_path / "corpus"
    words = ["--count", 4, "--text", text, "--kinds", "sentences=3", "dates", "--workers", 2]
    assert synthesize(folder, *words, "--engines", "flite", "--corpus", "made") == 0
    utterances = read_speech(folder / "manifest.tsv")
    assert len(utterances) == 4
    assert {utterance.corpus for utterance in utterances} == {"made"}
    assert "on may fifth he paid three dollars" in {utterance.text for utterance in utterances}
    captured = capsys.readouterr()
    assert "1 sentences; 1 have no sure reading and stay out\n" in captured.err
    assert captured.out.splitlines()[-1].startswith("4 recordings, 0.00 h, 0.0 MB: ")
    assert str(folder / "manifest.tsv") in captured.out


def test_hours_are_made_and_gone_on_with(capsys, tmp_path) -> None:
    words = [tmp_path / "corpus", "--kinds", "wake", "digits"]
    assert synthesize(*words, "--hours", 0.001) == 0
    few = read_speech(tmp_path / "corpus" / "manifest.tsv")
    assert synthesize(*words, "--hours", 0.002) == 0
    more = read_speech(tmp_path / "corpus" / "manifest.tsv")
    assert more[: len(few)] == few
    assert sum(u.seconds for u in more[:-1]) < 7.2 <= sum(u.seconds for u in more)


def test_what_was_no_good_is_told(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "silence one")
    assert synthesize(tmp_path / "corpus", "--count", 6, "--kinds", "digits", "--seed", 3) == 0
    said = capsys.readouterr().out
    assert "were no good and are left out, such as\n" in said
    assert "silent" in said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--count", "0", "--kinds", "names"], "the amount is not above 0"),
        (["--count", "1"], "sentences need --text; or choose other --kinds"),
        (["--count", "1", "--kinds", "names", "--text", "a.txt"], "no sentences are among --kinds"),
        (["--count", "1", "--kinds", "poems"], "no kind poems"),
        (["--count", "1", "--kinds", "names=-1"], "shares above 0"),
        (["--count", "1", "--kinds", "names", "--rate", "2:1"], "rate: needs"),
        (["--count", "1", "--engines", "festival"], "Debian's package festival"),
        (["--count", "1", "--text", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(capsys, tmp_path, words, named) -> None:
    assert synthesize(tmp_path / "corpus", *words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert named in captured.err
    assert len(captured.err.splitlines()) == 1
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--count", "1", "--hours", "1"],
        ["--count", "1", "--kinds", "names=many"],
        ["--count", "1", "--rate", "fast"],
        ["--count", "1", "--workers", "0"],
    ],
)
def test_flags_that_make_no_sense_are_refused(capsys, tmp_path, words) -> None:
    with pytest.raises(SystemExit) as caught:
        synthesize(tmp_path / "corpus", *words)
    assert caught.value.code == 2
    assert "usage: earshot synthesize" in capsys.readouterr().err
