"""The language model of a graph as an image: what a path has paid for its words, to the bit."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.lm.lm_header import MAX_ORDER
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, LmImage
from earshot.decoder_kernels.lm.lm_pack import packing
from earshot.language.ngrams.arpa import NATS
from earshot.language.ngrams.levels import word_columns
from earshot.language.ngrams.stepped_model import SteppedModel

LINES_PER_WRITE = 20_000
NAME = "the graph's language model"


def small_lm_of(model: SteppedModel) -> LmImage:
    """The image of a model; its costs are the model's, none is rounded or limited.

    An unknown word costs in it what it costs in the graph. Raises GraphSourceError for a model of
    more than MAX_ORDER orders, and LmImageError where the image cannot be written.
    """
    if model.order > MAX_ORDER:
        raise GraphSourceError(
            f"an image has at most order {MAX_ORDER}, not {model.order}: "
            "build the graph without it (--no-small-lm), or prune the model"
        )
    with tempfile.TemporaryDirectory(prefix="earshot-graph-") as folder:
        path = Path(folder) / "small.lm"
        with packing(path, NAME) as packer:
            for text in _arpa(model):
                packer.write(text.encode())
        return LmImage(path, round(model.unknown * model.step * COST_STEPS))


def _arpa(model: SteppedModel) -> Iterator[str]:
    counts = (f"ngram {n}={len(level)}\n" for n, level in enumerate(model.levels) if n)
    yield f"\\data\\\n{''.join(counts)}"
    for n in range(1, model.order + 1):
        yield f"\n\\{n}-grams:\n"
        yield from _ngrams(model, n)
    yield "\n\\end\\\n"


def _ngrams(model: SteppedModel, n: int) -> Iterator[str]:
    """Some lines at a time; twelve digits are more than an image's step needs."""
    columns = word_columns(model.levels, n)
    # Adding 0.0 makes a positive zero of a negative one.
    logs = model.costs[n] * (-model.step / NATS) + 0.0
    back_offs = (
        np.zeros_like(logs) if n == model.order else model.back_offs[n] * (-model.step / NATS)
    )
    for begin in range(0, len(columns), LINES_PER_WRITE):
        part = slice(begin, begin + LINES_PER_WRITE)
        yield "".join(
            f"{log:.12g}\t{' '.join([model.words[word] for word in words])}"
            + (f"\t{back_off:.12g}\n" if back_off else "\n")
            for words, log, back_off in zip(
                columns[part].tolist(), logs[part].tolist(), back_offs[part].tolist(), strict=True
            )
        )
