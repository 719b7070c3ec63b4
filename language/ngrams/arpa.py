"""Back-off n-grams in the ARPA format, of any order, plain or gzipped."""

import codecs
import gzip
import io
import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from earshot.decoder_kernels.errors import GraphSourceError

SENTENCE_START = "<s>"
SENTENCE_END = "</s>"
UNKNOWN_WORDS = ("<unk>", "<UNK>")
NATS = math.log(10.0)
"""Of one unit of a file's logarithms."""

MAX_ORDER = 20
MAX_NGRAMS = 30_000_000
"""What fits the memory of a build machine: about 250 bytes each while they are read."""
MAX_LINE_BYTES = 1 << 16
LEAST_LOG10 = -99.0
"""How the format writes zero; whatever is lower is taken for this."""

MOST_LOG10_BACK_OFF = 10.0
"""Above 1 some are; one of ten billion would say of no word how probable it is."""

LINES_PER_REPORT = 20_000
GZIP_MAGIC = b"\x1f\x8b"


class NGram(NamedTuple):
    """Logarithms to base 10 of its probability and of its back-off weight."""

    log10_prob: float
    log10_back_off: float


@dataclass(frozen=True)
class Arpa:
    """``words[i]`` is word ``i`` of the tuples in ``orders``; ``orders[n - 1]`` has the n-grams."""

    words: Sequence[str]
    orders: Sequence[dict[tuple[int, ...], NGram]]

    @property
    def order(self) -> int:
        """The n of the longest n-grams."""
        return len(self.orders)


def read_arpa(path: Path, progress: Callable[[float], None] = lambda done: None) -> Arpa:
    """The n-grams of a file; ``progress`` hears which part of it (0 to 1) has been read.

    Raises GraphSourceError, naming the line, for whatever is not a complete ARPA file.
    """
    try:
        with path.open("rb") as file:
            size = max(1, path.stat().st_size)
            zipped = file.peek(2)[:2] == GZIP_MAGIC
            stream = gzip.GzipFile(fileobj=file) if zipped else file
            with io.BufferedReader(stream, 1 << 20) as lines:
                return _ArpaReader(path.name, lines, lambda: progress(file.tell() / size)).read()
    except (OSError, EOFError, zlib.error) as error:
        raise GraphSourceError.unreadable(error, path.name) from error


class _ArpaReader:
    """Walks the lines: the counts, one section for each order, the end."""

    def __init__(self, name: str, lines: IO[bytes], report: Callable[[], None]) -> None:
        self._name = name
        self._lines = lines
        self._report = report
        self._number = 0
        self._words: list[str] = []
        self._ids: dict[bytes, int] = {}

    def read(self) -> Arpa:
        while self._next().removeprefix(codecs.BOM_UTF8) != b"\\data\\":
            pass
        counts, line = self._counts()
        orders: list[dict[tuple[int, ...], NGram]] = []
        for order, count in enumerate(counts, start=1):
            if line != b"\\%d-grams:" % order:
                raise self._error(f"{_shown(line)} where \\{order}-grams: should stand")
            ngrams, line = self._section(order, order == len(counts))
            if len(ngrams) != count:
                raise self._error(f"{len(ngrams)} {order}-grams, {count} were announced")
            orders.append(ngrams)
        if line != b"\\end\\":
            raise self._error(f"{_shown(line)} where \\end\\ should stand")
        return Arpa(self._words, orders)

    def _counts(self) -> tuple[list[int], bytes]:
        counts: list[int] = []
        while (line := self._next()).startswith(b"ngram "):
            match = re.fullmatch(rb"ngram\s+(\d{1,18})\s*=\s*(\d{1,18})", line)
            if match is None or int(match[1]) != len(counts) + 1:
                raise self._error(f"{_shown(line)} is not 'ngram {len(counts) + 1}=<count>'")
            counts.append(int(match[2]))
        if not counts or not counts[0]:
            raise self._error("the model is empty")
        if len(counts) > MAX_ORDER or sum(counts) > MAX_NGRAMS:
            raise self._error(
                f"{sum(counts)} n-grams up to order {len(counts)}; at most {MAX_NGRAMS} "
                f"up to order {MAX_ORDER} can be built: prune the model"
            )
        return counts, line

    def _section(self, order: int, last: bool) -> tuple[dict[tuple[int, ...], NGram], bytes]:
        ngrams: dict[tuple[int, ...], NGram] = {}
        while not (line := self._next()).startswith(b"\\"):
            fields = line.split()
            if not order + 1 <= len(fields) <= order + 2 - last:
                raise self._error(f"{_shown(line)} is not a {order}-gram")
            back_off = self._number_of(fields[order + 1]) if len(fields) == order + 2 else 0.0
            prob = max(self._number_of(fields[0]), LEAST_LOG10)
            if prob > 0 or not -math.inf < back_off <= MOST_LOG10_BACK_OFF:
                raise self._error(f"{_shown(line)}: no such probability")
            if order == 1:
                self._learn(fields[1])
            words = tuple(map(self._id, fields[1 : order + 1]))
            if words in ngrams:
                raise self._error(f"{_shown(line)}: this {order}-gram was there before")
            ngrams[words] = NGram(prob, back_off)
        return ngrams, line

    def _learn(self, word: bytes) -> None:
        if word not in self._ids:
            try:
                self._words.append(word.decode())
            except UnicodeDecodeError as error:
                raise self._error(f"{_shown(word)} is not UTF-8") from error
            self._ids[word] = len(self._ids)

    def _id(self, word: bytes) -> int:
        found = self._ids.get(word)
        if found is None:
            raise self._error(f"{_shown(word)} is not among the 1-grams")
        return found

    def _number_of(self, field: bytes) -> float:
        try:
            number = float(field)
        except ValueError:
            number = math.nan
        if math.isnan(number) or number == math.inf:
            raise self._error(f"{_shown(field)} is not a logarithm")
        return number

    def _next(self) -> bytes:
        """The next line that is not blank, without the space around it."""
        while True:
            line = self._lines.readline(MAX_LINE_BYTES + 1)
            self._number += 1
            if len(line) > MAX_LINE_BYTES:
                raise self._error(f"longer than {MAX_LINE_BYTES} bytes: not an ARPA file")
            if not line:
                raise self._error("the file ends here: it is not an ARPA file, or it is cut off")
            if self._number % LINES_PER_REPORT == 0:
                self._report()
            if stripped := line.strip():
                return stripped

    def _error(self, message: str) -> GraphSourceError:
        return GraphSourceError(message, self._name, self._number)


def _shown(text: bytes) -> str:
    shown = text[:60].decode(errors="replace")
    return repr(shown) + ("…" if len(text) > 60 else "")
