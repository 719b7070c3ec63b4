"""`earshot lm pack`, `earshot lm info`, and images that `earshot lm build` writes."""

import os
from pathlib import Path

import pytest

from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.word_classes import image_classes
from earshot.service.commands import lm_images
from earshot.service.commands.cli import main

ARPA = r"""
\data\
ngram 1=3
ngram 2=1

\1-grams:
-99 <s> -0.5
-0.5 </s>
-0.5 a

\2-grams:
-0.25 <s> a

\end\
"""


@pytest.fixture
def arpa(tmp_path: Path) -> Path:
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    return path


def lm(*words: object) -> int:
    return main(["lm", *map(str, words)])


def test_pack_writes_an_image_and_says_what_is_in_it(capsys, arpa: Path, tmp_path: Path) -> None:
    assert lm("pack", arpa, tmp_path / "my.lm") == 0
    said = capsys.readouterr()
    assert "3 1-grams, 1 2-grams; 0.0 MB" in said.out
    assert "beyond" not in said.err
    assert LmImage(tmp_path / "my.lm").order == 2


def test_pack_tells_of_numbers_that_an_image_cannot_say(capsys, arpa: Path, tmp_path: Path) -> None:
    arpa.write_text(ARPA.replace("-0.5 a", "-50 a"))
    assert lm("pack", arpa, tmp_path / "my.lm") == 0
    assert "1 numbers are beyond what an image says" in capsys.readouterr().err


def test_pack_refuses_what_is_no_model_in_one_line(capsys, arpa: Path, tmp_path: Path) -> None:
    arpa.write_text(ARPA.replace("-0.5 a", "-0.5"))
    assert lm("pack", arpa, tmp_path / "my.lm") == 2
    assert "pack: lm.arpa, line 9: '-0.5' is not a 1-gram" in capsys.readouterr().err
    assert lm("pack", arpa, arpa) == 2
    assert lm("pack", arpa, tmp_path / "my.lm", "--memory", 0) == 2
    assert lm("pack", tmp_path / "nothing", tmp_path / "my.lm") == 2


def test_pack_replaces_no_pipe_and_no_directory(
    capsys, monkeypatch, arpa: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.lm")
    assert lm("pack", arpa, tmp_path / "pipe.lm") == 2
    assert (tmp_path / "pipe.lm").is_fifo()
    monkeypatch.chdir(tmp_path)
    assert lm("pack", arpa, ".") == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("pipe.lm is no regular file")
    assert said[1] == "earshot lm: OUT.lm . is a directory"


@pytest.mark.parametrize("megabytes", [-1, 0, 99999999, 99999999999999])
def test_memory_that_a_machine_lacks_is_refused_in_one_line(
    capsys, arpa: Path, tmp_path: Path, megabytes: int
) -> None:
    asked = ["--memory", megabytes]
    assert lm("pack", arpa, tmp_path / "my.lm", *asked) == 2
    (tmp_path / "text").write_text("a b\n")
    assert lm("build", tmp_path / "text", "--out", tmp_path / "my.lm", *asked) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(line.startswith(f"earshot lm: --memory is {megabytes}") for line in said)


def test_memory_that_is_not_to_be_had_after_all_is_one_line(
    capsys, monkeypatch, arpa: Path, tmp_path: Path
) -> None:
    def too_much(*_: object) -> None:
        raise MemoryError("bad allocation")

    monkeypatch.setattr(lm_images, "pack_arpa", too_much)
    assert lm("pack", arpa, tmp_path / "my.lm") == 2
    assert "earshot lm: pack: there is not enough memory" in capsys.readouterr().err


def test_info_checks_all_of_an_image(capsys, arpa: Path, tmp_path: Path) -> None:
    image = tmp_path / "my.lm"
    lm("pack", arpa, image)
    assert lm("info", image, "--check") == 0
    assert "all checksums are right" in capsys.readouterr().out
    content = bytearray(image.read_bytes())
    content[4100] ^= 1
    image.write_bytes(content)
    assert lm("info", image) == 0
    assert lm("info", image, "--check") == 2
    assert "my.lm is damaged in its megabyte 0" in capsys.readouterr().err
    assert lm("info", arpa) == 2


def test_info_waits_for_no_pipe_and_names_a_directory(capsys, monkeypatch, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.lm")
    monkeypatch.chdir(tmp_path)
    said = []
    for name in ("pipe.lm", ".", "gone.lm"):
        assert lm("info", name) == 2
        said.append(capsys.readouterr().err)
    assert said == [
        "earshot lm: info: pipe.lm is no regular file\n",
        "earshot lm: info: . is no regular file\n",
        "earshot lm: info: gone.lm: No such file or directory\n",
    ]
    assert lm("pack", ".", "my.lm") == 2
    assert capsys.readouterr().err == "earshot lm: pack: .: Is a directory\n"


@pytest.mark.parametrize("name", ["on.lm", "Law.lm", "law.image"])
def test_a_name_that_no_request_can_use_is_told(
    capsys, arpa: Path, tmp_path: Path, name: str
) -> None:
    told = f"no request can name {name}: "
    assert lm("pack", arpa, tmp_path / name) == 0
    assert told in capsys.readouterr().err
    (tmp_path / "text").write_text("a b\n")
    assert lm("build", tmp_path / "text", "--as-is", "--out", tmp_path / name) == 0
    is_image = name.endswith(".lm")  # others are ARPA files
    assert (told in capsys.readouterr().err) == is_image


def test_nothing_is_told_of_a_name_that_requests_can_use(
    capsys, arpa: Path, tmp_path: Path
) -> None:
    assert lm("pack", arpa, tmp_path / "my-law_2.lm") == 0
    assert "no request can name" not in capsys.readouterr().err


def test_build_writes_the_image_of_what_it_would_write_as_text(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a b c a b\nb c d a\na b d\n" * 5)
    for name in ("my.arpa", "built.lm"):
        assert lm("build", text, "--as-is", "--order", 4, "--out", tmp_path / name) == 0
    lm("pack", tmp_path / "my.arpa", tmp_path / "packed.lm")
    assert (tmp_path / "built.lm").read_bytes() == (tmp_path / "packed.lm").read_bytes()


def test_a_text_with_classes_makes_a_model_that_has_them(capsys, tmp_path: Path) -> None:
    text = tmp_path / "calls.txt"
    text.write_text("Call <name> at 5.\nCall <name> about <product> please.\n" + "ring ring\n" * 9)
    assert lm("build", text, "--max-words", 1, "--out", tmp_path / "calls.lm") == 0
    assert "classes of words: <name>, <product>\n" in capsys.readouterr().out
    assert list(image_classes(LmImage(tmp_path / "calls.lm"))) == ["name", "product"]
    assert lm("info", tmp_path / "calls.lm") == 0
    assert "classes of words: <name>, <product>\n" in capsys.readouterr().out
    assert lm("build", text, "--as-is", "--out", tmp_path / "calls.arpa") == 0
    assert "classes of words: <name>, <product>\n" in capsys.readouterr().out
    assert lm("pack", tmp_path / "calls.arpa", tmp_path / "packed.lm") == 0
    assert "classes of words: <name>, <product>\n" in capsys.readouterr().out


def test_a_model_without_classes_is_told_to_have_none(capsys, arpa: Path, tmp_path: Path) -> None:
    assert lm("pack", arpa, tmp_path / "my.lm") == 0
    assert "classes of words" not in capsys.readouterr().out
