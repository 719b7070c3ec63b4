"""Random language models for the words of small random graphs."""

import random
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from backoff_oracle import BackoffModel, random_model
from hypothesis import strategies as st
from search_lm_oracle import SearchLmOracle

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.class_names import class_token
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.wfst.search_lm import NumberedLm, SearchLm

SHARES = ((1.0,), (1.0,), (0.7, 0.3), (0.5, 0.25, 0.25))
CLASSES = ("name", "town")
WORDS = ("a", "b", "c", "d", "e")


def model_of_words(seed: int, order: int) -> BackoffModel:
    """A random model of some of the words of `graphs`, and others."""
    draw = random.Random(seed)
    names = [f"w{number}" for number in range(5)]
    called = dict(zip(names, draw.sample(WORDS, len(names)), strict=True))
    if draw.random() < 0.5:
        called[names[0]] = "elsewhere"
    for name, word_class in zip(names[3:], CLASSES, strict=True):
        if draw.random() < 0.8:
            called[name] = class_token(word_class)
    model = random_model(seed, order, size=len(names))
    return replace(
        model,
        costs={tuple(called.get(w, w) for w in g): cost for g, cost in model.costs.items()},
        back_offs={tuple(called.get(w, w) for w in g): cost for g, cost in model.back_offs.items()},
    )


@st.composite
def search_lms(draw: st.DrawFn, graph: Graph, scale: float) -> SearchLmOracle:
    """A stream's models of orders 1 to 4, with holes and gains; some are the small one itself.

    ``scale``: the graph's.
    """
    seeds, orders = st.integers(0, 2**32 - 1), st.integers(1, 4)
    small = model_of_words(draw(seeds), draw(orders))
    shares = draw(st.sampled_from(SHARES))
    large = [model_of_words(draw(seeds), draw(orders)) for _ in shares]
    if draw(st.integers(0, 3)) == 0:
        large[0] = small
    asked = draw(st.sampled_from([CLASSES, CLASSES[::-1], CLASSES, CLASSES[:1], ()]))
    had = [each for each in asked if any((class_token(each),) in lm.costs for lm in large)]
    return SearchLmOracle(
        graph.word_texts,
        small,
        large,
        shares,
        scale=scale,
        gain=draw(st.sampled_from([0.0, 1.0, 3.0, float("inf")])),
        history_beam=draw(st.sampled_from([0.0, 1.0, 3.0, float("inf")])),
        classes=had,
    )


def native_lm(lm: SearchLmOracle, folder: Path) -> SearchLm:
    """The same models as images, as the search takes them."""
    return SearchLm(
        _numbered(lm.small, lm, folder),
        [_numbered(each, lm, folder) for each in lm.large],
        lm.shares,
        lm.scale,
        lm.gain,
        lm.history_beam,
        lm.classes,
    )


def _numbered(model: BackoffModel, lm: SearchLmOracle, folder: Path) -> NumberedLm:
    place = Path(mkdtemp(dir=folder))
    pack_arpa(model.write(place), place / "model.lm")
    return NumberedLm.of(LmImage(place / "model.lm"), lm.texts)
