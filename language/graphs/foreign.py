"""Graphs that Kaldi's or OpenFst's tools made: TLG.fst or HLG.fst, words.txt, tokens.txt.

In such a graph the input label of a unit is its number in ``tokens.txt``: 0 is ``<eps>``, then come
the model's units in their order, then disambiguation symbols (``#0`` …), which are epsilon to us.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.epsilon_order import epsilon_order
from earshot.decoder_kernels.graph.graph import (
    EPSILON,
    NO_WORD_TEXT,
    ArcColumns,
    Graph,
    Topology,
    units_checksum,
)
from earshot.decoder_kernels.graph.wfst_options import MAX_COST
from earshot.language.graphs.fst import Fst, read_fst
from earshot.language.text.text_lines import read_fields

BLANK_SYMBOLS = ("<blank>", "<blk>")
MAX_SYMBOL_ID = 1 << 24
DISAMBIGUATION = re.compile(r"#\d+")


@dataclass(frozen=True)
class TokenTable:
    """Read tokens.txt: the units by token id, and how many input labels there are in all."""

    units: Sequence[str]
    num_labels: int


def import_graph(
    fst_path: Path,
    words_path: Path,
    tokens_path: Path,
    *,
    topology: Topology = "explicit",
    blank: str | None = None,
    units: Sequence[str] | None = None,
    progress: Callable[[float], None] = lambda done: None,
) -> Graph:
    """The graph of such files; of an LG, say with ``topology`` which rule the search should add.

    ``blank`` names the unit for blank if it is neither ``<blank>`` nor ``<blk>``. ``units`` are
    those of the model, to be compared with tokens.txt, which may leave out the last ones.

    Raises GraphSourceError if a file cannot be read, the units differ, or a label has no symbol;
    another GraphError if the graph cannot be searched.
    """
    tokens = read_tokens(tokens_path)
    texts = read_words(words_path)
    if units is not None:
        _require_same(tokens.units, units, tokens_path.name)
    blank_id = _blank_id(tokens.units, blank, tokens_path.name)
    fst = read_fst(fst_path, progress)
    _require_labels("input", fst.ilabels, tokens.num_labels, fst_path, tokens_path)
    _require_labels("output", fst.olabels, len(texts), fst_path, words_path)
    labels = np.where(fst.ilabels > len(tokens.units), 0, fst.ilabels)
    open_arcs = _open_arcs(fst, fst_path) & ~_idle(fst, labels)
    graph = Graph.from_columns(
        ArcColumns(
            fst.sources[open_arcs],
            labels[open_arcs],
            fst.olabels[open_arcs],
            fst.weights[open_arcs],
            fst.targets[open_arcs],
        ),
        fst.finals,
        topology=topology,
        vocab_size=len(units or tokens.units),
        word_texts=texts,
        start=fst.start,
        blank_id=blank_id,
        units_checksum=units_checksum(units or tokens.units),
    )
    epsilon_order(graph)
    return graph


def _idle(fst: Fst, labels: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Arcs that lead nowhere and gain nothing, such as those of disambiguation symbols."""
    nothing = (labels == EPSILON) & (fst.olabels == 0) & (fst.weights >= 0)
    idle: npt.NDArray[np.bool_] = nothing & (fst.sources == fst.targets)
    return idle


def _open_arcs(fst: Fst, path: Path) -> npt.NDArray[np.bool_]:
    """Arcs that may be taken: those of finite cost. Raises GraphSourceError for no graph."""
    open_arcs: npt.NDArray[np.bool_] = fst.weights != np.inf
    if not (open_arcs & (fst.olabels > 0)).any():
        raise GraphSourceError("has no word that can be said", path.name)
    if not np.isfinite(fst.finals).any():
        raise GraphSourceError("has no state to end at", path.name)
    costs = np.concatenate([fst.weights[open_arcs], fst.finals[np.isfinite(fst.finals)]])
    largest = float(np.abs(costs).max())
    if largest > MAX_COST:
        raise GraphSourceError(
            f"has a cost of {largest:g} nats; at most {MAX_COST:,.0f} make sense", path.name
        )
    return open_arcs


def read_tokens(path: Path) -> TokenTable:
    """Raises GraphSourceError if a unit is missing, or follows the disambiguation symbols."""
    symbols = _read_symbols(path)
    last = max(symbols)
    units = last
    while units and DISAMBIGUATION.fullmatch(symbols.get(units, "")):
        units -= 1
    if not units:
        raise GraphSourceError("has no units", path.name)
    missing = [i for i in range(units + 1) if i not in symbols]
    if missing:
        raise GraphSourceError(f"has no symbol with the number {missing[0]}", path.name)
    return TokenTable([symbols[i] for i in range(1, units + 1)], last + 1)


def read_words(path: Path) -> list[str]:
    """The texts by word id, empty for ids that the file leaves out. Raises GraphSourceError."""
    symbols = _read_symbols(path)
    return [NO_WORD_TEXT, *(symbols.get(i, "") for i in range(1, max(symbols) + 1))]


def _read_symbols(path: Path) -> dict[int, str]:
    """Lines of a symbol and its number; number 0 is that of epsilon."""
    symbols: dict[int, str] = {}
    for number, fields in read_fields(path):
        if len(fields) != 2 or not re.fullmatch("[0-9]{1,9}", fields[1]):
            raise GraphSourceError("is not '<symbol> <number>'", path.name, number)
        i = int(fields[1])
        if i in symbols or i > MAX_SYMBOL_ID:
            fault = "was there before" if i in symbols else "is too large"
            raise GraphSourceError(f"the number {i} {fault}", path.name, number)
        symbols[i] = fields[0]
    if symbols.get(0, NO_WORD_TEXT) not in (NO_WORD_TEXT, "<epsilon>"):
        raise GraphSourceError(f"number 0 is {symbols[0]!r}, not {NO_WORD_TEXT}", path.name)
    if not symbols:
        raise GraphSourceError("has no symbols", path.name)
    return symbols


def _require_same(found: Sequence[str], wanted: Sequence[str], name: str) -> None:
    if len(found) > len(wanted):
        raise GraphSourceError(f"has {len(found)} units, the model {len(wanted)}", name)
    for i, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if one != other:
            raise GraphSourceError(f"unit {i} is {one!r}, that of the model {other!r}", name)


def _blank_id(units: Sequence[str], blank: str | None, name: str) -> int:
    names = BLANK_SYMBOLS if blank is None else (blank,)
    for symbol in names:
        if symbol in units:
            return units.index(symbol)
    raise GraphSourceError(f"has no unit {' or '.join(names)}: say which one is blank", name)


def _require_labels(
    what: str, labels: npt.NDArray[np.int32], end: int, path: Path, table: Path
) -> None:
    highest = int(labels.max(initial=0))
    if highest >= end:
        raise GraphSourceError(
            f"has the {what} label {highest}, but {table.name} ends at {end - 1}", path.name
        )
