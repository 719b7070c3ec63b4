"""Texts for the bundled language model."""

from pathlib import Path

from earshot.training.texts.language_texts import main

HEADER = "path\tcorpus\tspeaker\tseconds\ttext\n"


def manifest(folder: Path) -> Path:
    """Nine speakers who read, and one who says digits, nine of them."""
    lines = [f"{i}.opus\tread\ts{i}\t1.0\tText {i:c}\n" for i in range(97, 106)]
    lines += [f"d{i}.opus\tdigits\t?\t1.0\tseven\n" for i in range(9)]
    lines += ["silence.opus\tread\ts97\t1.0\t\n"]
    (folder / "train.tsv").write_text(HEADER + "".join(lines))
    return folder / "train.tsv"


def written(folder: Path) -> dict[str, list[str]]:
    """The files that come of it, by name."""
    (folder / "cmudict").write_text("latte L\nlatte(2) L\nlatte's L\n'tis T\no'clock O\n")
    files = ["--speech", manifest(folder), "--dictionary", folder / "cmudict"]
    assert main([*map(str, files), "--out", str(folder / "out")]) == 0
    return {path.name: path.read_text().splitlines() for path in (folder / "out").iterdir()}


def test_speakers_are_held_out_and_where_none_are_known_utterances(tmp_path: Path) -> None:
    texts = written(tmp_path)
    # Speakers in the order of their names: s100 to s105, s97 to s99.
    assert texts["read.held_out.txt"] == ["text c", "text d"]
    assert texts["read.txt"] == [f"text {letter}" for letter in "abefghi"]
    assert (len(texts["digits.txt"]), len(texts["digits.held_out.txt"])) == (7, 2)


def test_words_are_those_of_the_dictionary_without_possessives(tmp_path: Path) -> None:
    assert written(tmp_path)["words.txt"] == ["latte", "o'clock"]


def test_a_dictionary_that_is_not_there_is_a_message(tmp_path: Path, capsys) -> None:
    files = ["--speech", str(manifest(tmp_path)), "--dictionary", str(tmp_path / "gone")]
    assert main([*files, "--out", str(tmp_path / "out")]) == 1
    assert "cannot read the dictionary" in capsys.readouterr().err
