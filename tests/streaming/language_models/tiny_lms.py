"""Language models of a few words, and a graph whose words sound alike."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa

Costs = Mapping[str, float]

SMALL: Costs = {"<s>": 64.0, "</s>": 0.0, "<unk>": 9.0, "一": 1.0, "七": 0.5, "二": 1.0}
"""What the graph of `alike` is built of, in nats; 七 sounds like 一 there."""

TENANT: Costs = {"<s>": 64.0, "</s>": 0.5, "<unk>": 9.0, "一": 0.25, "七": 3.0, "二": 2.0}
"""By this one 一 is likelier."""


def arpa(costs: Costs) -> str:
    """The text of a model; n-grams are words with spaces between."""
    orders = sorted({len(ngram.split()) for ngram in costs})
    levels = {n: [ngram for ngram in costs if len(ngram.split()) == n] for n in orders}
    lines = ["\\data\\", *(f"ngram {n}={len(level)}" for n, level in levels.items())]
    for n, level in levels.items():
        lines += ["", f"\\{n}-grams:"]
        lines += [f"{-costs[ngram] / math.log(10):.9f}\t{ngram}" for ngram in level]
    return "\n".join([*lines, "", "\\end\\", ""])


def write_lm(path: Path, costs: Costs) -> Path:
    """An image of a model, under a name that it takes when it is whole."""
    source = path.with_suffix(".arpa")
    source.write_text(arpa(costs))
    pack_arpa(source, path)
    source.unlink()
    return path


def alike(folder: Path, vocab_size: int, *, with_small: bool = True) -> Graph:
    """A graph in any order of 一, 七 and 二, of which the first two sound alike."""
    texts = ["<eps>", "一", "七", "二"]
    labels = {"一": 4, "七": 4, "二": 5}
    arcs = [Arc(0, labels[text], texts.index(text), SMALL[text], 0) for text in labels]
    graph = Graph.from_arcs(
        arcs, {0: 0.0}, 1,
        vocab_size=vocab_size, word_texts=texts, loop_node=0, unknown_cost=9.0, topology="compact",
    )  # fmt: skip
    if not with_small:
        return graph
    folder.mkdir(exist_ok=True)
    return replace(graph, small_lm=LmImage(write_lm(folder / "small.lm", SMALL)))
