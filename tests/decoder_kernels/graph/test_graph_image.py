"""The language model within a compiled graph."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backoff_oracle import BackoffModel

from earshot.decoder_kernels.errors import GraphFileError
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.graph_file import _checksum, read_graph, write_graph
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NO_WORD, ROOT, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa

PAGE = 4096
MODEL = BackoffModel(
    2, {("一",): 700, ("two",): 900, ("two", "一"): 100, ("一", "two"): 200}, {("two",): -50}
)


@pytest.fixture
def image(tmp_path: Path) -> LmImage:
    pack_arpa(MODEL.write(tmp_path), tmp_path / "model.lm")
    return LmImage(tmp_path / "model.lm")


@pytest.fixture
def graph(image: LmImage) -> Graph:
    return Graph.from_arcs(
        [Arc(0, 1, 1, 0.5, 0), Arc(0, 2, 2, 0.5, 0)],
        {0: 0.75},
        1,
        topology="compact",
        vocab_size=3,
        word_texts=("<eps>", "two", "three", "一"),
        blank_id=2,
        unknown_cost=7.5,
        small_lm=image,
    )


@pytest.mark.parametrize("name", ["lm.graph", "lm.graph.xz"])
def test_what_is_read_says_what_was_written(graph: Graph, tmp_path: Path, name: str) -> None:
    write_graph(tmp_path / name, graph)
    read = read_graph(tmp_path / name)
    image, written = read.small_lm, graph.small_lm
    assert image is not None and written is not None  # noqa: PT018
    assert image.content == written.content
    image.check()
    assert image.content.readonly
    two, one = image.find_words(["two", "一"]).tolist()
    assert image.find(image.state_after([two]), one)[0] == 100
    assert image.find_words(read.word_texts).tolist() == [NO_WORD, two, NO_WORD, one]


def test_a_word_that_the_model_lacks_costs_what_one_does_that_the_graph_lacks(
    graph: Graph, tmp_path: Path
) -> None:
    write_graph(tmp_path / "lm.graph", graph)
    image = read_graph(tmp_path / "lm.graph").small_lm
    assert image is not None
    assert image.find(ROOT, NO_WORD) == (round(7.5 * COST_STEPS), ROOT)


def test_the_image_is_mapped_at_a_page(graph: Graph, image: LmImage, tmp_path: Path) -> None:
    write_graph(tmp_path / "lm.graph", graph)
    content = (tmp_path / "lm.graph").read_bytes()
    assert content.find(image.content[:64].tobytes()) % PAGE == 0
    assert content.endswith(image.content)


def test_a_file_of_version_1_has_no_model(graph: Graph, tmp_path: Path) -> None:
    write_graph(tmp_path / "lm.graph", replace(graph, small_lm=None))
    content = np.fromfile(tmp_path / "lm.graph", np.uint8)
    content[8:12] = np.frombuffer(struct.pack("<I", 1), np.uint8)
    rewritten(tmp_path / "lm.graph", content)
    read = read_graph(tmp_path / "lm.graph")
    assert read.small_lm is None
    assert read.num_arcs == graph.num_arcs


def test_an_image_that_is_none_is_named(graph: Graph, tmp_path: Path) -> None:
    write_graph(tmp_path / "lm.graph", graph)
    content = np.fromfile(tmp_path / "lm.graph", np.uint8)
    at = content.tobytes().find(b"EARGRAML")
    content[at] ^= 1
    rewritten(tmp_path / "lm.graph", content)
    with pytest.raises(GraphFileError, match=r"language model in lm\.graph is no image"):
        read_graph(tmp_path / "lm.graph")


@pytest.mark.parametrize("size", [1, 4096, 1 << 41, (1 << 64) - 1])
def test_a_size_of_the_image_that_lies_is_refused(graph: Graph, tmp_path: Path, size: int) -> None:
    write_graph(tmp_path / "lm.graph", graph)
    content = np.fromfile(tmp_path / "lm.graph", np.uint8)
    content[112:120] = np.frombuffer(struct.pack("<Q", size), np.uint8)
    with pytest.raises(GraphFileError, match="sizes in its header contradict"):
        read_graph(rewritten(tmp_path / "lm.graph", content))


def rewritten(path: Path, content: np.ndarray) -> Path:
    """A file whose checksum is right whatever it holds."""
    content[24:40] = np.frombuffer(_checksum(content), np.uint8)
    content.tofile(path)
    return path
