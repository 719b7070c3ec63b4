"""`earshot lm`, on texts of a few sentences."""

import gzip
from pathlib import Path

import pytest

from earshot.language.ngrams.arpa import read_arpa
from earshot.service.commands.cli import main

BOOK = "Mr. Hall came home. Where was Mr. Hall? Mr. Hall was at home!\nHe came in 1604.\n"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt.gz"
    path.write_bytes(gzip.compress(BOOK.encode()))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "lm.arpa.gz"


def lm(*words: object) -> int:
    return main(["lm", *map(str, words)])


def test_build_writes_an_arpa_file(capsys, book: Path, out: Path) -> None:
    assert lm("build", book, "--out", out, "--order", 2) == 0
    arpa = read_arpa(out)
    assert arpa.order == 2
    assert {"mister", "hall", "sixteen", "o", "four"} <= set(arpa.words)
    assert f"{out}: 15 1-grams" in capsys.readouterr().out


def test_build_chooses_words_and_prunes(book: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("seven\n")
    few = ["--max-words", 3, "--words", tmp_path / "words.txt", "--max-ngrams", 9]
    assert lm("build", book, "--out", out, *few) == 0
    arpa = read_arpa(out)
    assert arpa.words[3:] == ["came", "hall", "mister", "seven"]
    assert sum(map(len, arpa.orders)) <= 9


def test_build_mixes_domains_with_tuned_weights(capsys, book, out, tmp_path) -> None:
    for name in ("orders", "held_out"):
        (tmp_path / f"{name}.txt").write_text("a large latte\na small latte\n" * 3)
    mixed = ["--mix", tmp_path / "orders.txt", "--tune", tmp_path / "held_out.txt"]
    assert lm("build", book, "--out", out, *mixed) == 0
    said = capsys.readouterr().err
    assert float(said.split("orders.txt counts ")[1].split(" times")[0]) > 10
    assert lm("perplexity", "--lm", out, tmp_path / "held_out.txt") == 0
    found = capsys.readouterr().out
    assert "18 words, 0.00 % unknown, 6 sentences" in found
    assert float(found.split("perplexity ")[1].split(",")[0]) < 2


def test_the_memory_makes_no_difference(tmp_path: Path) -> None:
    """Nothing is left beside the model either."""
    (tmp_path / "text.txt").write_text(
        "".join(f"w{i * i % 211} w{i % 97} w{i % 5} w{i // 7 % 50}\n" for i in range(20_000))
    )
    (tmp_path / "out").mkdir()
    for name, memory in (("small", 1), ("large", 1024)):
        for end in ("lm", "arpa"):
            out = tmp_path / "out" / f"{name}.{end}"
            assert lm("build", tmp_path / "text.txt", "--memory", memory, "--out", out) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert sorted(made) == ["large.arpa", "large.lm", "small.arpa", "small.lm"]
    assert made["small.lm"] == made["large.lm"]
    assert made["small.arpa"] == made["large.arpa"]


def test_clean_prints_text_as_it_is_spoken(capsys, book: Path) -> None:
    assert lm("clean", book) == 0
    assert capsys.readouterr().out.splitlines()[::3] == [
        "mister hall came home",
        "he came in sixteen o four",
    ]


def test_text_may_be_taken_as_it_is(book: Path, out: Path) -> None:
    assert lm("build", book, "--out", out, "--as-is") == 0
    assert {"Mr.", "Hall?", "1604."} <= set(read_arpa(out).words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--order", 0], "--order is 0; it can be 1 to 6"),
        (["--max-words", -1], "--max-words is -1"),
        (["--tune", "x"], "--tune finds weights of --mix, which is not there"),
        (["--words", "gone"], "build: --words gone cannot be read: No such file"),
        (["--mix", "gone"], "build: gone: No such file or directory"),
        (["--max-words", 0], "build: there are no words in the text"),
        (["--out", "."], "--out . is a directory"),
        (["--out", "gone/x"], "--out gone/x: there is no directory gone"),
        (["--max-ngrams", 0], "--max-ngrams is 0"),
        (["--min-count", 0], "--min-count is 0"),
        (["--memory", 0], "--memory is 0"),
    ],
)
def test_what_cannot_be_built_is_one_line(capsys, book, out, words, complaint: str) -> None:
    assert lm("build", book, *words, *(() if "--out" in words else ("--out", out))) == 2
    assert capsys.readouterr().err.startswith(f"earshot lm: {complaint}")
    assert not out.exists()


@pytest.mark.parametrize("flag", [(), ("--mix",), ("--tune",), ("--words",)])
def test_no_input_is_overwritten(capsys, book, tmp_path, flag: tuple[str, ...]) -> None:
    (tmp_path / "text.txt").write_text("a b c\n")
    words = [book, *flag, tmp_path / "text.txt", "--out", tmp_path / "text.txt"]
    assert lm("build", *words) == 2
    assert "is an input, and would be lost" in capsys.readouterr().err
    assert (tmp_path / "text.txt").read_text() == "a b c\n"


def test_words_that_are_more_than_the_ngrams_asked_for_are_told(capsys, book, out) -> None:
    assert lm("build", book, "--out", out, "--max-ngrams", 1) == 0
    assert "words are never pruned: more than 1 n-grams" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--mix", "--tune"])
def test_a_text_without_words_is_one_line(capsys, book, out, tmp_path, flag: str) -> None:
    (tmp_path / "empty.txt").write_text("...\n")
    texts = {"--mix": book, "--tune": book, flag: tmp_path / "empty.txt"}
    assert lm("build", book, "--out", out, *(part for pair in texts.items() for part in pair)) == 2
    assert "build: empty.txt has no words" in capsys.readouterr().err


def test_inputs_are_opened_before_the_work(capsys, tmp_path) -> None:
    (tmp_path / "damaged.txt").write_bytes(b"\xff")
    (tmp_path / "damaged.arpa").write_text("no model")
    build = ["build", tmp_path / "damaged.txt", "--mix", tmp_path / "damaged.txt", "--tune", "gone"]
    for words in (
        [*build, "--out", tmp_path / "lm.arpa"],
        ["perplexity", "--lm", tmp_path / "damaged.arpa", "gone"],
    ):
        assert lm(*words) == 2
        assert f"{words[0]}: gone: No such file or directory" in capsys.readouterr().err


def test_an_empty_text_has_no_perplexity(capsys, book, out, tmp_path) -> None:
    lm("build", book, "--out", out)
    (tmp_path / "empty.txt").write_text("...\n")
    assert lm("perplexity", "--lm", out, tmp_path / "empty.txt") == 2
    assert "empty.txt has no words" in capsys.readouterr().err
