"""Compiled graphs: one file each, mapped into memory; no copy, no parsing, shared by processes.

A name that ends in ``.xz`` asks for a packed file, a quarter of the size, to be carried about: it
is unpacked when it is read, into memory or from a copy that was kept.

::

    header    160 bytes, little endian, see `_HEADER`
    arrays    first_arc, first_label, labels, words, weights, targets, finals: those of `Graph`
    texts     (words,) int64, where the UTF-8 of each word's text ends; then all that text
    small_lm  if there is one: the image of the graph's language model (`LmImage`), as a whole file

Each part begins at a multiple of 64 bytes, the image at one of 4,096. Version 1 had no image. All
sizes follow from the counts in the header, so there are no offsets to distrust. The checksum covers
everything but itself. It tells damage, not malice: what a search relies on is checked again (see
`Graph`), and a lookup holds to its bounds, so that no file can lead it astray.
"""

import hashlib
import lzma
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast, overload

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphError, GraphFileError, LmImageError
from earshot.decoder_kernels.graph.graph import TOPOLOGIES, Graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies, digest_of
from earshot.decoder_kernels.graph.wfst_options import MAX_COST
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, LmImage

MAGIC = b"EARGRAPH"
VERSION = 2
READABLE = (1, VERSION)
ALIGNMENT = 64
IMAGE_ALIGNMENT = 4096
XZ_MAGIC = b"\xfd7zXZ\x00"
XZ_PRESET = 9
MAX_UNPACKED_BYTES = 2 << 30
"""A packed file is for graphs that are shipped; a small file must not fill the memory."""

# magic, version, topology, file size, checksum | start, vocabulary, blank, loop, cost of an unknown
# word, checksum of the units | nodes, arcs, words, bytes of text, bytes of the image
_LEAD = struct.Struct("<8sIIQ16s")
_REST = struct.Struct("<iiiid16sQQQQQ")
_HEADER_BYTES = 160
_CHECKSUM = slice(24, 40)
_NO_UNITS = bytes(16)
_MAX_COUNT = 1 << 40


class WordTexts(Sequence[str]):
    """Texts by word id, decoded when they are asked for."""

    def __init__(self, ends: npt.NDArray[np.int64], text: npt.NDArray[np.uint8]) -> None:
        self._ends = ends
        self._text = text

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        begin = int(self._ends[index - 1]) if index else 0
        return self._text[begin : int(self._ends[index])].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text = self._text.tobytes()
        begin = 0
        for end in self._ends.tolist():
            yield text[begin:end].decode()
            begin = end


@dataclass(frozen=True)
class _Counts:
    """The counts in the header, and where they put the parts of the file."""

    nodes: int
    arcs: int
    words: int
    text_bytes: int
    image_bytes: int

    def parts(self) -> Iterator[tuple[str, np.dtype[np.generic], int, int]]:
        """Name, type, length and offset of each part."""
        i4, f4 = np.dtype("<i4"), np.dtype("<f4")
        at = _HEADER_BYTES
        for name, dtype, length in (
            ("first_arc", i4, self.nodes + 1),
            ("first_label", i4, self.nodes),
            ("labels", i4, self.arcs),
            ("words", i4, self.arcs),
            ("weights", f4, self.arcs),
            ("targets", i4, self.arcs),
            ("finals", f4, self.nodes),
            ("ends", np.dtype("<i8"), self.words),
            ("text", np.dtype("u1"), self.text_bytes),
        ):
            at += -at % ALIGNMENT
            yield name, dtype, length, at
            at += length * dtype.itemsize
        if self.image_bytes:
            yield "image", np.dtype("u1"), self.image_bytes, at + -at % IMAGE_ALIGNMENT

    @property
    def file_size(self) -> int:
        *_, (_, dtype, length, at) = self.parts()
        return at + length * dtype.itemsize


def write_graph(path: Path, graph: Graph) -> None:
    """Write the file; one of that name is replaced at once, and stays as it is on failure.

    Raises GraphFileError if it cannot be written.
    """
    texts = [text.encode() for text in graph.word_texts]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    image = b"" if graph.small_lm is None else graph.small_lm.content
    counts = _Counts(graph.num_nodes, graph.num_arcs, len(texts), int(ends[-1]), len(image))
    others: dict[str, npt.NDArray[Any]] = {
        "ends": ends,
        "text": np.frombuffer(b"".join(texts), np.uint8),
        "image": np.frombuffer(image, np.uint8),
    }
    content = np.zeros(counts.file_size, np.uint8)
    for name, dtype, length, at in counts.parts():
        array: npt.NDArray[Any] = others[name] if name in others else getattr(graph, name)
        content[at : at + length * dtype.itemsize] = array.astype(dtype, copy=False).view(np.uint8)
    header = _header(graph, counts, bytes(16))
    content[: len(header)] = np.frombuffer(header, np.uint8)
    content[_CHECKSUM] = np.frombuffer(_checksum(content), np.uint8)
    packed = path.suffix == ".xz"
    _replace(path, lzma.compress(content.data, preset=XZ_PRESET) if packed else content.data)


def read_graph(path: Path, copies: UnpackedCopies | None = None) -> Graph:
    """Map the file; the arrays of the graph are views of it, or of what a packed one unpacks to.

    copies: where such content is looked for, and kept. Raises GraphFileError if the file is no
    compiled graph, of another version, cut off or damaged, and another GraphError if its content
    cannot be searched.
    """
    content = _mapped(path)
    if content[: len(XZ_MAGIC)] != XZ_MAGIC:
        return _graph_of(path, content)
    if copies is None:
        return _graph_of(path, _unpacked(_name(path), content))
    return _copied_graph(path, content, copies)


def _copied_graph(path: Path, packed: mmap.mmap, copies: UnpackedCopies) -> Graph:
    digest = digest_of(packed)
    if (copy := copies.find(digest)) is not None:
        try:
            return _graph_of(path, copy)
        except GraphError:
            copies.discard(digest)
    content = _unpacked(_name(path), packed)
    graph = _graph_of(path, content)
    copies.keep(digest, content)
    return graph


def _graph_of(path: Path, unpacked: mmap.mmap | bytes) -> Graph:
    content = np.frombuffer(unpacked, np.uint8)
    name = _name(path)
    topology, counts, rest = _checked_header(name, content)
    start, vocab_size, blank_id, loop_node, unknown_cost, units = rest
    parts = {
        name: np.frombuffer(content, dtype, length, at)
        for name, dtype, length, at in counts.parts()
    }
    texts = _texts(name, parts.pop("ends"), parts.pop("text"))
    image = parts.pop("image", None)
    return Graph(
        topology=TOPOLOGIES[topology],
        start=start,
        vocab_size=vocab_size,
        blank_id=blank_id,
        word_texts=texts,
        loop_node=loop_node,
        unknown_cost=unknown_cost,
        units_checksum="" if units == _NO_UNITS else units.hex(),
        small_lm=None if image is None else _opened(path, image, unknown_cost),
        **parts,
    )


def _checked_header(
    name: str, content: npt.NDArray[np.uint8]
) -> tuple[int, _Counts, tuple[int, int, int, int, float, bytes]]:
    """Topology, counts and the scalars of a file that is whole."""
    if len(content) < _HEADER_BYTES or content[: len(MAGIC)].tobytes() != MAGIC:
        raise GraphFileError(f"{name} is not a compiled graph")
    _, version, topology, file_size, checksum = _LEAD.unpack(content[: _LEAD.size].tobytes())
    if version not in READABLE:
        raise GraphFileError(
            f"{name} is a compiled graph of version {version}; this is version {VERSION}: "
            "build it again"
        )
    rest = _REST.unpack_from(content.data, _LEAD.size)
    counts = _Counts(*rest[6:])
    if max(rest[6:]) > _MAX_COUNT or file_size != counts.file_size:
        raise GraphFileError(f"{name} is damaged: the sizes in its header contradict each other")
    if len(content) < file_size:
        raise GraphFileError(f"{name} is cut off: {len(content)} of {file_size} bytes")
    if len(content) > file_size:
        raise GraphFileError(f"{name} is damaged: {len(content) - file_size} bytes follow its end")
    if _checksum(content) != checksum:
        raise GraphFileError(f"{name} is damaged: its checksum is wrong")
    if topology >= len(TOPOLOGIES):
        raise GraphFileError(f"{name} has topology {topology}, which does not exist")
    return topology, counts, rest[:6]


def _header(graph: Graph, counts: _Counts, checksum: bytes) -> bytes:
    topology = TOPOLOGIES.index(graph.topology)
    lead = _LEAD.pack(MAGIC, VERSION, topology, counts.file_size, checksum)
    return lead + _REST.pack(
        graph.start,
        graph.vocab_size,
        graph.blank_id,
        graph.loop_node,
        graph.unknown_cost,
        bytes.fromhex(graph.units_checksum) or _NO_UNITS,
        counts.nodes,
        counts.arcs,
        counts.words,
        counts.text_bytes,
        counts.image_bytes,
    )


def _opened(path: Path, image: npt.NDArray[np.uint8], unknown_cost: float) -> LmImage:
    """The image within a graph; a word that it lacks costs what one does that the graph lacks."""
    if not abs(unknown_cost) <= MAX_COST:  # written so that NaN fails, as `Graph` says
        unknown_cost = 0.0
    try:
        return LmImage(path, round(unknown_cost * COST_STEPS), image.data)
    except LmImageError as error:
        raise GraphFileError(f"the language model in {error}") from error


def _checksum(content: npt.NDArray[np.uint8]) -> bytes:
    digest = hashlib.blake2b(content[: _CHECKSUM.start].tobytes(), digest_size=16)
    digest.update(content[_CHECKSUM.stop :].data)
    return digest.digest()


def _name(path: Path) -> str:
    return path.name or str(path)  # of "." there is no name


def _mapped(path: Path) -> mmap.mmap:
    name = _name(path)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise GraphFileError(f"{name} is empty")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise GraphFileError(f"{name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise GraphFileError(f"{name} cannot be read: {error}") from error


def _unpacked(name: str, packed: mmap.mmap) -> bytes:
    try:
        with lzma.LZMAFile(cast(IO[bytes], packed)) as stream:  # it reads as a file does
            content = stream.read(MAX_UNPACKED_BYTES)
            if stream.read(1):
                raise GraphFileError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES} bytes")
    except (lzma.LZMAError, EOFError) as error:
        raise GraphFileError(f"{name} is damaged: {error}") from error
    return content


def _texts(name: str, ends: npt.NDArray[np.int64], text: npt.NDArray[np.uint8]) -> WordTexts:
    # Compared, not subtracted: a difference of two of 64 bits may be too large for 64 bits.
    falling = len(ends) and (ends[0] < 0 or (ends[1:] < ends[:-1]).any())
    if falling or ends[-1:].tolist() != [len(text)]:
        raise GraphFileError(f"{name} is damaged: the texts of its words do not follow one another")
    try:
        text.tobytes().decode()
    except UnicodeDecodeError as error:
        raise GraphFileError(f"{name} is damaged: the text of a word is not UTF-8") from error
    inner = ends[ends < len(text)]
    if (text[inner] & 0xC0 == 0x80).any():
        raise GraphFileError(f"{name} is damaged: the text of a word ends within a character")
    return WordTexts(ends, text)


def _replace(path: Path, content: bytes | memoryview) -> None:
    """Beside the file first, then in its place: who has the old one mapped keeps it."""
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise GraphFileError(f"{path} cannot be written: {error.strerror}") from error
