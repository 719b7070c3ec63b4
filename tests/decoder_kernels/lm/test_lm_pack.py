"""Packing ARPA files: the same bytes whatever the memory, and named errors."""

import gzip
from pathlib import Path
from random import Random

import pytest
from arpa_sections import SECTIONS
from backoff_oracle import random_model

from earshot.decoder_kernels.errors import GraphSourceError, LmImageError
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa, packing

SMALL = (
    r"""by hand
\data\
ngram 1=4
ngram 2=2
"""
    + SECTIONS
)


def pack(folder: Path, content: str | bytes) -> LmImage:
    source = folder / "lm.arpa"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    pack_arpa(source, folder / "lm.lm")
    return LmImage(folder / "lm.lm")


def test_likelier_words_have_lower_numbers(tmp_path: Path) -> None:
    image = pack(tmp_path, SMALL)
    assert [image.text_of(word) for word in range(4)] == ["a", "</s>", "<s>", "naïve"]
    assert image.find_words(["naïve", "a", "b"]).tolist() == [3, 0, (1 << 24) - 1]


def test_gzip_windows_lines_marks_and_the_order_of_lines_make_no_difference(tmp_path: Path) -> None:
    plain = (pack(tmp_path, SMALL) and tmp_path / "lm.lm").read_bytes()
    other = SMALL.replace("-0.5\t<s> a\n-0.75 a </s>", "-0.75 a </s>\n-0.5\t<s> a")
    marked = SMALL.removeprefix("by hand\n").encode("utf-8-sig")
    for content in (gzip.compress(SMALL.encode()), SMALL.replace("\n", "\r\n"), other, marked):
        pack(tmp_path, content)
        assert (tmp_path / "lm.lm").read_bytes() == plain


def test_pieces_may_end_anywhere(tmp_path: Path) -> None:
    pack(tmp_path, SMALL)
    with packing(tmp_path / "pieces.lm", "pieces") as packer:
        for byte in SMALL.encode():
            packer.write(bytes([byte]))
    assert (tmp_path / "pieces.lm").read_bytes() == (tmp_path / "lm.lm").read_bytes()


@pytest.mark.parametrize("order", [3, 5])
def test_the_memory_makes_no_difference(tmp_path: Path, order: int) -> None:
    """So many n-grams that the least memory takes several runs."""
    draw = Random(order)
    lines = ["\\data\\", "ngram 1=60"]
    ngrams = {
        n: {" ".join(f"w{draw.randrange(60)}" for _ in range(n)) for _ in range(60_000)}
        for n in range(2, order + 1)
    }
    lines += [f"ngram {n}={len(each)}" for n, each in ngrams.items()]
    lines += ["\\1-grams:", *(f"-1.5 w{word} -0.3" for word in range(60))]
    for n, each in ngrams.items():
        lines += [f"\\{n}-grams:", *(f"-{draw.random():.4f} {words}" for words in sorted(each))]
    source = tmp_path / "lm.arpa"
    source.write_text("\n".join([*lines, "\\end\\"]))
    for name, memory in (("large", 1 << 30), ("small", 0)):
        pack_arpa(source, tmp_path / name, memory)
    assert (tmp_path / "large").read_bytes() == (tmp_path / "small").read_bytes()


def test_an_order_may_have_no_ngrams(tmp_path: Path) -> None:
    image = pack(
        tmp_path, "\\data\\\nngram 1=1\nngram 2=0\n\\1-grams:\n-1 a -0.5\n\\2-grams:\n\\end\\\n"
    )
    assert image.order == 2
    assert image.cost_of(["a"]) > 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("\\data\\", "data", "the file ends here"),
        ("ngram 1=4", "ngram 1=5", "line 12: 4 1-grams, 5 were announced"),
        ("ngram 1=4", "ngram 1=3", "line 10: more 1-grams than the 3 that were announced"),
        ("ngram 2=2", "ngram 3=2", "line 4: 'ngram 3=2' is not 'ngram 2=<count>'"),
        ("ngram 2=2", "ngram 2=" + "9" * 30, "is not 'ngram 2=<count>'"),
        ("ngram 1=4\nngram 2=2", "ngram 1=0", "the model is empty"),
        ("\\2-grams:", "\\3-grams:", r"'\\3-grams:' where \\2-grams: should stand"),
        ("\\end\\", "\\3-grams:", r"'\\3-grams:' where \\end\\ should stand"),
        ("\\end\\\nwhat follows is not read", "", "line 17: the file ends here"),
        ("-0.75 a </s>", "-0.75 a b", "line 14: 'b' is not among the 1-grams"),
        ("-0.75 a </s>", "-0.5 <s> a", "the 2-gram '<s> a' is there twice"),
        ("-inf\tnaïve", "-inf\ta", "line 10: 'a' was there before"),
        ("-0.75 a </s>", "-0.75 a </s> -0.1", "is not a 2-gram"),
        ("-0.75 a </s>", "-0.75 a", "is not a 2-gram"),
        ("-1.0 </s>", "nan </s>", "'nan' is not a logarithm"),
        ("-1.0 </s>", "-1.0 </s> inf", "'inf' is not a logarithm"),
        ("-1.0 </s>", "-1.0 </s> -inf", "no such probability"),
        ("-1.0 </s>", "-1.0 </s> 11", "no such probability"),
        ("-1.0 </s>", "0.1 </s>", "no such probability"),
        ("-1.0 </s>", "1e999 </s>", "'1e999' is not a logarithm"),
        ("-1.0 </s>", "-1,0 </s>", "'-1,0' is not a logarithm"),
        ("by hand", "x" * 70_000, "line 1: longer than 65536 bytes"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in SMALL
    with pytest.raises(GraphSourceError, match=told):
        pack(tmp_path, SMALL.replace(old, new, 1))
    assert [file.name for file in tmp_path.iterdir()] == ["lm.arpa"]


def test_words_must_be_utf_8(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match="word 3 is not UTF-8"):
        pack(tmp_path, SMALL.encode().replace("ï".encode(), b"\xef"))


def test_more_words_in_an_ngram_than_an_image_has_are_refused(tmp_path: Path) -> None:
    counts = "".join(f"ngram {n}=1\n" for n in range(1, 8))
    with pytest.raises(GraphSourceError, match="an image has at most order 6"):
        pack(tmp_path, f"\\data\\\n{counts}")


def test_a_zipped_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphSourceError, match="cannot be read"):
        pack(tmp_path, gzip.compress(SMALL.encode())[:-20])


def test_an_older_image_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    before = pack(tmp_path, SMALL)
    with pytest.raises(GraphSourceError):
        pack(tmp_path, SMALL[:100])
    pack(tmp_path, random_model(1).arpa())
    assert before.text_of(3) == "naïve"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "lm.arpa").write_text(SMALL)
    with pytest.raises(LmImageError, match="No such file"):
        pack_arpa(tmp_path / "lm.arpa", tmp_path / "nowhere" / "lm.lm")
