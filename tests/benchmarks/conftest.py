"""A small decoding graph for the benchmarks' own logic."""

import pytest

from earshot.decoder_kernels.graph.graph import Arc, Graph


@pytest.fixture
def graph() -> Graph:
    """Two words, each of two tokens and each as likely; either may follow, or the end."""
    arcs = [
        Arc(0, 2, 1, 1.0, 1),
        Arc(1, 3, 0, 0.0, 0),
        Arc(0, 4, 2, 1.0, 2),
        Arc(2, 3, 0, 0.0, 0),
    ]
    return Graph.from_arcs(
        arcs, {0: 1.0}, 3, topology="compact", vocab_size=4, word_texts=["<eps>", "yes", "no"]
    )
