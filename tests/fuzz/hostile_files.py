"""Damaged and forged files: compiled graphs, OpenFst ones with tables, ARPA models, lexicons.

A file that is read in spite of everything must make a graph that can be searched.
"""

import math
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
from hostile_inputs import EXTREMES, INTEGERS
from hostile_inputs import graph as random_graph

from earshot.decoder_kernels.errors import GraphError
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Graph
from earshot.decoder_kernels.graph.graph_file import _checksum, read_graph, write_graph
from earshot.language.graphs.build import GRAPH_FORMS, Units, build_graph
from earshot.language.graphs.foreign import import_graph
from earshot.language.graphs.fst import ARC, EXPANDED, MAGIC, Fst, write_fst
from earshot.language.graphs.lexicon import read_lexicon

Damage = Callable[[Random, bytes], bytes]

HEADER_BYTES = 160  # of a compiled graph
UNITS = ("<blank>", "a", "b", "c")
ARPA = """\\data\\
ngram 1=6
ngram 2=4

\\1-grams:
-99 <s> -0.5
-1 </s>
-2 <unk>
-0.5 ab -0.25
-0.75 ba 0.25
-1 c

\\2-grams:
-0.25 <s> ab
-0.5 ab ba
-0.1 ba ba
-0.3 ba </s>

\\end\\
"""
WORDS = "<eps> 0\nab 1\nba 2\nc 4\n"
TOKENS = "<eps> 0\n<blank> 1\na 2\nb 3\nc 4\n#0 5\n"
LEXICON = "ab a b\nba b a\nba b\nc c\n"
FIELDS = (
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-99",
    "9" * 30,
    "<s>",
    "</s>",
    "<unk>",
    "\\end\\",
    "\\2-grams:",
    "ngram",
    "2=999999999",
    "#0",
    "<eps>",
    "ab",
    "\x00",
    "é" * 99,
)


def damaged(dice: Random, data: bytes, damages: "Sequence[Damage] | None" = None) -> bytes:
    """The data after some mutations, or none."""
    for _ in range(dice.choice((0, 1, 1, 2, 5))):
        data = dice.choice(damages or _DAMAGES)(dice, data)
    return data


def _flipped(dice: Random, data: bytes) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(dice: Random, data: bytes) -> bytes:
    return data[: dice.randint(0, len(data))]


def _spliced(dice: Random, data: bytes) -> bytes:
    """A span is left out, repeated, or noise."""
    begin = dice.randint(0, len(data))
    end = min(len(data), begin + dice.choice((1, 4, 16, 64)))
    span = dice.choice((b"", data[begin:end] * 2, dice.randbytes(end - begin)))
    return data[:begin] + span + data[end:]


def _number(dice: Random, data: bytes) -> bytes:
    """An integer or float of the file becomes a small, or an extreme, one."""
    at = 4 * dice.randint(0, len(data) // 4)
    number = dice.choice((dice.randint(0, 8), dice.choice(INTEGERS)))
    cost = dice.choice((dice.uniform(-3.0, 3.0), dice.choice(EXTREMES)))
    patch = dice.choice(
        (
            struct.pack("<I", number & 0xFFFF_FFFF),
            struct.pack("<Q", number & 0xFFFF_FFFF_FFFF_FFFF),
            np.float32(cost).tobytes(),
        )
    )
    return (data[:at] + patch + data[at + len(patch) :])[: max(len(data), 1)]


def _field(dice: Random, data: bytes) -> bytes:
    """A word or number of a text becomes another."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    fields = lines[at].split()
    if fields:
        fields[dice.randrange(len(fields))] = dice.choice(FIELDS).encode()
        lines[at] = b" ".join(fields)
    return b"\n".join(lines)


_DAMAGES: tuple[Damage, ...] = (_flipped, _cut, _spliced, _number, _number, _number, _number)
_TEXT_DAMAGES: tuple[Damage, ...] = (_flipped, _cut, _spliced, _field, _field, _field, _field)


class HostileFiles:
    """Damages compiled graphs, foreign ones and language models in ever new ways; reads them."""

    def __init__(self, dice: Random, directory: Path) -> None:
        self._dice = dice
        self._directory = directory
        self._num_read = 0
        self.kinds = {
            "compiled graph": self._compiled,
            "foreign graph": self._foreign,
            "language model": self._language_model,
        }
        fst = random_fst(dice)
        write_fst(directory / "fst", fst)
        self._fsts = (directory / "fst").read_bytes(), vector_form(fst)
        write_graph(directory / "compiled", _possible(dice))
        self._intact_graph = (directory / "compiled").read_bytes()

    def read(self, kind: str) -> Graph:
        """The graph of a bad file that is good enough. Raises GraphError."""
        return self.kinds[kind]()

    def _compiled(self) -> Graph:
        """Mostly the checksum is right all the same."""
        content = bytearray(damaged(self._dice, self._intact_graph))
        if self._dice.random() < 0.8 and len(content) >= HEADER_BYTES:
            if self._dice.random() < 0.5:
                content[16:24] = struct.pack("<Q", len(content))
            content[24:40] = _checksum(np.frombuffer(content, np.uint8))
        # What a graph has mapped is not written again.
        graph = read_graph(self._file(f"compiled-{self._num_read}", content))
        self._num_read += 1
        return graph

    def _foreign(self) -> Graph:
        """One file in either form, and two tables."""
        return import_graph(
            self._file("fst", damaged(self._dice, self._dice.choice(self._fsts))),
            self._text("words", WORDS),
            self._text("tokens", TOKENS),
            topology=self._dice.choice(TOPOLOGIES),
            units=self._dice.choice((None, UNITS)),
        )

    def _language_model(self) -> Graph:
        """An ARPA model, its lexicon, and what is built of them."""
        ids = {unit: i for i, unit in enumerate(UNITS) if i}
        lexicon = read_lexicon(self._text("lexicon", LEXICON), ids)
        return build_graph(
            self._text("arpa", ARPA),
            lambda word: lexicon.get(word, ()),
            Units(UNITS, 0, self._dice.choice((None, 3))),
            form=self._dice.choice(GRAPH_FORMS),
        ).graph

    def _text(self, name: str, text: str) -> Path:
        data = text.encode()
        spoiled = self._dice.random() < 0.5
        return self._file(name, damaged(self._dice, data, _TEXT_DAMAGES) if spoiled else data)

    def _file(self, name: str, data: bytes | bytearray) -> Path:
        path = self._directory / name
        path.write_bytes(data)
        return path


def _possible(dice: Random) -> Graph:
    """A made-up graph that is none of those refused."""
    while True:
        try:
            return random_graph(dice)
        except GraphError:
            continue


def random_fst(dice: Random) -> Fst:
    """Some states, with labels of the tables above."""
    states, arcs = dice.randint(1, 8), dice.randint(0, 20)
    arrays = np.random.default_rng(dice.getrandbits(64))
    sources, targets = arrays.integers(0, states, (2, arcs))
    finals = arrays.choice((0.0, 0.5, math.inf), states)
    weights = arrays.choice((0.0, 0.25, 1.0, 3.0, math.inf), arcs)
    ilabels, olabels = arrays.integers(0, 5, (2, arcs))
    ilabels = np.where((ilabels == 0) & (targets <= sources), 1, ilabels)
    return Fst.from_columns(0, finals, sources, ilabels, olabels, weights, targets)


def vector_form(fst: Fst) -> bytes:
    """OpenFst's other form: states between their arcs."""
    arcs = np.zeros(fst.num_arcs, ARC)
    arcs["ilabel"], arcs["olabel"] = fst.ilabels, fst.olabels
    arcs["weight"], arcs["target"] = fst.weights, fst.targets
    header = struct.pack("<i", MAGIC)
    for word in (b"vector", b"standard"):
        header += struct.pack("<i", len(word)) + word
    header += struct.pack("<iiQqqq", 2, 0, EXPANDED, fst.start, fst.num_states, fst.num_arcs)
    return header + b"".join(
        struct.pack("<fq", fst.finals[state], end - begin) + arcs[begin:end].tobytes()
        for state, (begin, end) in enumerate(pairwise(fst.first_arc.tolist()))
    )
