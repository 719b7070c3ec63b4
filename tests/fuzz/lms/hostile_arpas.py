"""ARPA files that break their grammar.

Counts lie, sections are missing, jumbled or there twice, numbers and words are none, archives are
cut off.
"""

import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random

from backoff_oracle import random_model
from hostile_files import damaged

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import LEAST_MEMORY, pack_arpa, packing
from earshot.language.ngrams.arpa import read_arpa

Lines = list[bytes]
Break = Callable[[Random, Lines], None]

NUMBERS = (
    b"nan", b"-nan", b"NaN(1)", b"inf", b"-inf", b"-Infinity", b"1e38", b"-1e38", b"1e400",
    b"-1e400", b"1e-400", b"-1e-400", b"0", b"-0.0", b"+0", b"+-1", b"0x1p-3", b"-1,5", b"--1",
    b"-", b"+", b"e", b"-1e", b"1_0", b"-99", b"-99.0001", b"-" + b"9" * 400,
    b"-0." + b"0" * 60_000, "−1".encode(), b"10", b"10.0001", b"-1\x00",
)  # fmt: skip
WORDS = (
    b"", b"\x00", b"a\x00b", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80",
    b"\xef\xbb\xbf", "\u2028".encode(), "\x85".encode(), b"\x1c", b"<s>", b"</s>", b"<unk>",
    b"<UNK>", b"\\end\\", b"\\2-grams:", b"ngram", b"-1", b"w0", b"w1", b"x" * 60_000,
    b"y" * 65_536, b"z" * (1 << 20), "é".encode() * 33_000,
)  # fmt: skip
COUNTS = (
    b"0", b"1", b"-1", b"-0", b"2", b"999999", b"30000001", b"1099511627776", b"1099511627777",
    b"18446744073709551615", b"18446744073709551616", b"9" * 60, b"1.5", b"1e3", b"0x10", b"",
    b" 3 ", b"3 3", b"3=3", "٣".encode(),
)  # fmt: skip
HEADINGS = (
    b"\\data\\", b"\\end\\", b"\\1-grams:", b"\\2-grams:", b"\\7-grams:", b"\\0-grams:", b"\\",
    b"\\\\", b"\\-1-grams:", b"\\2-grams", b"ngram 1=1", b"ngram 8=1", b"ngram =", b"",
)  # fmt: skip


class HostileArpas:
    """Breaks the texts of random models in ever new ways, and packs them."""

    def __init__(self, dice: Random, directory: Path) -> None:
        self._dice = dice
        self._directory = directory
        models = [random_model(dice.getrandbits(30), size=4) for _ in range(6)]
        self._texts = [model.arpa().encode() for model in models]

    def read(self) -> LmImage:
        """The image of a bad file that is good enough.

        Raises KernelError. Raises AssertionError where the file is read in another way when a graph
        is built of it, or its image is not whole.
        """
        source = self._directory / "bad.arpa"
        source.write_bytes(self._content())
        counted = self._counted(source)
        self._pack(source)
        image = LmImage(self._directory / "bad.lm")
        image.check()
        assert counted in (None, image.header.num_ngrams)
        return image

    def _content(self) -> bytes:
        dice = self._dice
        lines = dice.choice(self._texts).split(b"\n")
        for _ in range(dice.choice((0, 1, 1, 1, 2, 5))):
            dice.choice(BREAKS)(dice, lines)
        content = dice.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(lines)
        if dice.random() < 0.1:
            content = damaged(dice, content)
        if dice.random() < 0.1:
            content = damaged(dice, gzip.compress(content, 1, mtime=0))
        return content

    def _pack(self, source: Path) -> None:
        path = self._directory / "bad.lm"
        if self._dice.random() < 0.8:
            pack_arpa(source, path, LEAST_MEMORY)
            return
        content, at = source.read_bytes(), 0
        with packing(path, source.name, LEAST_MEMORY) as packer:
            while at < len(content):
                size = self._dice.choice((1, 2, 7, 1000, 1 << 20))
                packer.write(content[at : at + size])
                at += size

    def _counted(self, source: Path) -> int | None:
        """How many n-grams building a graph finds; None if it refuses the file."""
        try:
            return sum(map(len, read_arpa(source).orders))
        except GraphSourceError:
            return None


def _lines_of_ngrams(lines: Lines) -> list[int]:
    return [i for i, line in enumerate(lines) if line[:1] in (b"-", b"0")] or [0]


def _count(dice: Random, lines: Lines) -> None:
    """A count is a hostile one, or off by one."""
    places = [i for i, line in enumerate(lines) if line.startswith(b"ngram ")]
    if not places:
        return
    at = dice.choice(places)
    name, _, count = lines[at].partition(b"=")
    near = b"%d" % (int(count) + dice.choice((-1, 1))) if count.isdigit() else b"1"
    lines[at] = name + b"=" + (near if dice.random() < 0.3 else dice.choice(COUNTS))


def _number(dice: Random, lines: Lines) -> None:
    """A probability or back-off is no number, or an extreme one."""
    at = dice.choice(_lines_of_ngrams(lines))
    fields = lines[at].split(b"\t")
    fields[dice.choice((0, -1))] = dice.choice(NUMBERS)
    lines[at] = b"\t".join(fields)


def _word(dice: Random, lines: Lines) -> None:
    """A word is another one wherever it stands, or once."""
    words = b" ".join(lines[at] for at in _lines_of_ngrams(lines)).split()
    old, new = dice.choice(words or [b"w0"]), dice.choice(WORDS)
    places = _lines_of_ngrams(lines)
    for at in places if dice.random() < 0.5 else [dice.choice(places)]:
        lines[at] = lines[at].replace(old, new)


def _line(dice: Random, lines: Lines) -> None:
    """A line is gone, there twice, elsewhere, or longer."""
    at = dice.randrange(len(lines))
    line = lines[at]
    kind = dice.randrange(5)
    if kind in (0, 3) and len(lines) > 1:
        del lines[at]
    if kind in (1, 3):
        lines.insert(dice.randint(0, len(lines)), line)
    if kind == 4:
        lines[at % len(lines)] = line + b" " + dice.choice((*WORDS, *NUMBERS))
    if kind == 2:
        lines[at] = b" ".join(line.split()[dice.randint(0, 2) :])


def _heading(dice: Random, lines: Lines) -> None:
    """A heading is missing, another, or there again."""
    places = [i for i, line in enumerate(lines) if line.startswith(b"\\")] or [0]
    at = dice.choice(places)
    if dice.random() < 0.5:
        lines[at] = dice.choice(HEADINGS)
    else:
        lines.insert(dice.randint(0, len(lines)), dice.choice(HEADINGS))


def _sections(dice: Random, lines: Lines) -> None:
    """Sections change places, or one is there twice or not at all."""
    places = [i for i, line in enumerate(lines) if line.startswith(b"\\")]
    if len(places) < 3:
        return
    bounds = sorted(dice.sample([*places, len(lines)], 3))
    first, second = lines[bounds[0] : bounds[1]], lines[bounds[1] : bounds[2]]
    lines[bounds[0] : bounds[2]] = dice.choice(
        ([*second, *first], [*first, *first, *second], second, first)
    )


def _noise(dice: Random, lines: Lines) -> None:
    """Anything before, between or behind."""
    junk = dice.choice((b"", b" ", b"\\data\\", b"\x00" * 9, b"#" * 70_000, dice.randbytes(30)))
    lines.insert(dice.choice((0, len(lines), dice.randint(0, len(lines)))), junk)


def _end(dice: Random, lines: Lines) -> None:
    """The end is missing, or comes early."""
    if b"\\end\\" in lines:
        lines.remove(b"\\end\\")
    if dice.random() < 0.5:
        lines.insert(dice.randint(0, len(lines)), b"\\end\\")


BREAKS: tuple[Break, ...] = (
    _count, _number, _number, _word, _word, _line, _line, _heading, _sections, _noise, _end,
)  # fmt: skip
