"""LG = min(det(L ∘ G)), by kaldifst."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.language.graphs.fst import Fst, read_fst, write_fst

MAX_STATES = 60_000_000
"""Where determinization gives up: more would not fit the search's keys."""

DELTA = 2.0**-16
"""Below what costs are the same. A grammar's are whole steps of 2^-8 nats and more, which stay so:
Kaldi's 1/1024 would do too, but costs that are no such steps would then be off by it."""

Report = Callable[[str], None]


def compose_lexicon(lexicon: Fst, grammar: Fst, report: Report) -> Fst:
    """Minimal deterministic LG; disambiguation symbols are still among its labels.

    Raises GraphSourceError if kaldifst is missing, or if nothing, or too much, comes out.
    """
    kaldifst = _kaldifst()
    with tempfile.TemporaryDirectory(prefix="earshot-graph-") as directory:
        here = Path(directory)
        report("composing the lexicon with the language model")
        left = _load(kaldifst, here, _sorted_by_output(lexicon))
        right = _load(kaldifst, here, _sorted_by_input(grammar))
        composed = kaldifst.compose(left, right, match_side="left", compose_filter="sequence")
        if composed.num_states == 0:
            raise GraphSourceError("the language model allows no text that the lexicon can spell")
        del left, right
        report(f"determinizing {composed.num_states:,} states")
        # Tropical: the cost of a text stays that of its best path, exactly.
        if kaldifst.determinize_star(composed, DELTA, MAX_STATES, use_log=False):
            raise GraphSourceError(f"the graph would have more than {MAX_STATES} states")
        report(f"minimizing {composed.num_states:,} states")
        kaldifst.minimize_encoded(composed, DELTA)
        path = here / "out.fst"
        kaldifst.StdConstFst(composed).write(str(path))
        return read_fst(path)


def _kaldifst() -> Any:
    try:
        import kaldifst
    except ModuleNotFoundError as error:
        raise GraphSourceError(
            "building a graph needs the package kaldifst: pip install 'earshot-asr[graph]'"
        ) from error
    return kaldifst


def _load(kaldifst: Any, directory: Path, fst: Fst) -> Any:
    path = directory / "in.fst"
    write_fst(path, fst)
    return kaldifst.StdVectorFst(kaldifst.StdConstFst.read(str(path)))


def _sorted_by_output(fst: Fst) -> Fst:
    return _reordered(fst, np.lexsort((fst.ilabels, fst.olabels, fst.sources)))


def _sorted_by_input(fst: Fst) -> Fst:
    return _reordered(fst, np.lexsort((fst.olabels, fst.ilabels, fst.sources)))


def _reordered(fst: Fst, order: Any) -> Fst:
    return Fst(
        fst.start,
        fst.first_arc,
        fst.ilabels[order],
        fst.olabels[order],
        fst.weights[order],
        fst.targets[order],
        fst.finals,
    )
