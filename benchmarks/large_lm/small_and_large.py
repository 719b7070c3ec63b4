"""The graph of a small model and the image of a large one, of two ARPA files, for benchmarks."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.wfst.graph_files import GraphFiles
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa

CORPORA = ("coffee", "librispeech", "speechocean")
SEED = 1


@dataclass(frozen=True)
class SmallAndLarge:
    """A graph of the model's own units, which holds the small model, and the large model's image.

    arpa: the large model as other tools read it.
    """

    graph: Graph
    small: LmImage
    large: LmImage
    arpa: Path

    @classmethod
    def of(cls, asked: argparse.Namespace) -> SmallAndLarge:
        """Of the files that `add_arguments` asks for; made once, and kept in the cache."""
        graph = GraphFiles(asked.cache, asked.small, units="tokens").compact()
        image = asked.cache / "large.lm"
        if not image.exists():
            pack_arpa(asked.large, image)
        assert graph.small_lm is not None
        return cls(graph, graph.small_lm, LmImage(image), asked.large)

    @property
    def sizes(self) -> str:
        """N-grams and words, for a page."""
        small, large = self.small.header, self.large.header
        words = len(self.graph.word_texts) - 1
        return f"{small.num_ngrams:,} and {large.num_ngrams:,} n-grams of {words:,} words"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The cache, both ARPA files, and how many recordings of each corpus."""
    parser.add_argument("cache", type=Path)
    parser.add_argument("--small", type=Path, required=True, help="ARPA, for the graph")
    parser.add_argument("--large", type=Path, required=True, help="ARPA of the same words")
    parser.add_argument("--per-corpus", type=int, default=30, help="recordings")
    parser.add_argument("--write", action="store_true", help="the page")
