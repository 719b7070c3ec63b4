"""The decoding graph in memory: a weighted transducer from token labels to words, as flat arrays.

Words: a *node* is a state of the graph; a *label* is a token id plus 1, and 0 is epsilon; word id 0
is no word; a *cost* is a negative natural logarithm.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.errors import GraphMismatch, InvalidGraph
from earshot.decoder_kernels.graph.epsilon_cycles import refuse_unsafe_cycles
from earshot.decoder_kernels.graph.wfst_key import LABEL_BITS, NODE_BITS
from earshot.decoder_kernels.graph.wfst_options import MAX_COST

if TYPE_CHECKING:
    from earshot.decoder_kernels.lm.lm_image import LmImage

Topology = Literal["compact", "normal", "explicit"]
TOPOLOGIES: tuple[Topology, ...] = ("compact", "normal", "explicit")

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

EPSILON = 0
NO_WORD_TEXT = "<eps>"

MAX_NODES = (1 << NODE_BITS) - (1 << 20)
"""Of those that the search's key can name a million are kept for words that requests bring."""

MAX_ARCS = (1 << 31) - 1

MAX_VOCAB_SIZE = (1 << LABEL_BITS) - 1
"""The search's key has so many bits for a label."""


class Arc(NamedTuple):
    """One arc, as tests and small graphs write it."""

    source: int
    label: int
    word: int
    weight: float
    target: int


@dataclass(frozen=True, eq=False)
class Graph:
    """Arcs by node (CSR): of each node first those with epsilon, then the others by label.

    A *compact* or *normal* graph is LG: lexicon and language model, with the CTC rule left to the
    search (normal: the same label twice needs a blank in between; compact: it does not). The arcs
    of an *explicit* graph hold the CTC rule too (TLG), ``blank_id + 1`` being the label of blank.

    All arrays are read-only and may lie in a mapped file. Raises InvalidGraph if they contradict
    each other, hold a cost that is not finite, or if epsilon arcs form a cycle in which the search
    could go round for gain.
    """

    topology: Topology
    start: int
    vocab_size: int
    """Tokens that the graph was built for, blank included."""
    blank_id: int
    first_arc: Ints
    """(S + 1,): node ``s`` has the arcs ``first_arc[s]`` to ``first_arc[s + 1]``."""
    first_label: Ints
    """(S,): the first arc of a node that is not epsilon."""
    labels: Ints
    """(A,)"""
    words: Ints
    """(A,)"""
    weights: Floats
    """(A,): costs."""
    targets: Ints
    """(A,)"""
    finals: Floats
    """(S,): cost of ending at a node; +inf where nothing may end."""
    word_texts: Sequence[str]
    """Text by word id; that of word 0 is ``<eps>``."""
    loop_node: int
    """Where any word may start with an empty history, or -1 if unknown."""
    unknown_cost: float
    """Cost of a word outside the vocabulary at ``loop_node``."""
    units_checksum: str
    """Of the list of units that the graph was built for; empty if unknown."""
    small_lm: "LmImage | None" = None
    """The language model in the arcs: of any text it says what the cheapest path costs, to the bit.
    None if it is not known, as of graphs that others have composed."""

    def __post_init__(self) -> None:
        _check_scalars(self)
        _check_shapes(self)
        _check_arcs(self)
        refuse_unsafe_cycles(
            self.first_arc, self.first_label, self.words, self.weights, self.targets
        )

    @property
    def num_nodes(self) -> int:
        """S."""
        return len(self.finals)

    @property
    def num_arcs(self) -> int:
        """A."""
        return len(self.labels)

    def require_units(self, units: Sequence[str]) -> None:
        """Raises GraphMismatch if the graph was not built for this list of units."""
        if self.vocab_size != len(units):
            raise GraphMismatch(
                f"the graph was built for {self.vocab_size} units; the model has {len(units)}"
            )
        if self.units_checksum and self.units_checksum != units_checksum(units):
            raise GraphMismatch("the graph was built for other units than those of the model")

    @classmethod
    def from_columns(
        cls,
        columns: "ArcColumns",
        finals: Floats,
        *,
        topology: Topology,
        vocab_size: int,
        word_texts: Sequence[str],
        start: int = 0,
        blank_id: int = 0,
        loop_node: int = -1,
        unknown_cost: float = 0.0,
        units_checksum: str = "",
        small_lm: "LmImage | None" = None,
    ) -> "Graph":
        """A graph of arcs in any order. Raises InvalidGraph."""
        num_nodes = len(finals)
        columns.check(num_nodes)
        order = np.lexsort(
            (columns.weights, columns.targets, columns.words, columns.labels, columns.sources)
        )
        sources, labels = columns.sources[order], columns.labels[order]
        first_arc = np.zeros(num_nodes + 1, np.int32)
        np.cumsum(np.bincount(sources, minlength=num_nodes), out=first_arc[1:])
        epsilons = np.bincount(sources[labels == EPSILON], minlength=num_nodes)
        return cls(
            topology=topology,
            start=start,
            vocab_size=vocab_size,
            blank_id=blank_id,
            first_arc=_frozen(first_arc, np.int32),
            first_label=_frozen(first_arc[:-1] + epsilons, np.int32),
            labels=_frozen(labels, np.int32),
            words=_frozen(columns.words[order], np.int32),
            weights=_frozen(columns.weights[order], np.float32),
            targets=_frozen(columns.targets[order], np.int32),
            finals=_frozen(finals, np.float32),
            word_texts=word_texts,
            loop_node=loop_node,
            unknown_cost=unknown_cost,
            units_checksum=units_checksum,
            small_lm=small_lm,
        )

    @classmethod
    def from_arcs(
        cls, arcs: Iterable[Arc], finals: Mapping[int, float], num_nodes: int, **rest: Any
    ) -> "Graph":
        """A small graph, from a list; ``rest`` as for `from_columns`. Raises InvalidGraph."""
        costs = np.full(num_nodes, np.inf, np.float32)
        for node, cost in finals.items():
            costs[node] = cost
        return cls.from_columns(ArcColumns.of(arcs), costs, **rest)


@dataclass(frozen=True, eq=False)
class ArcColumns:
    """Arcs in any order, an array (A,) of each of their parts."""

    sources: npt.NDArray[np.integer]
    labels: npt.NDArray[np.integer]
    words: npt.NDArray[np.integer]
    weights: npt.NDArray[np.floating]
    targets: npt.NDArray[np.integer]

    @classmethod
    def of(cls, arcs: Iterable[Arc]) -> "ArcColumns":
        """From a list."""
        rows = list(arcs)
        integers = np.array([(a.source, a.label, a.word, a.target) for a in rows], np.int64)
        sources, labels, words, targets = integers.reshape(-1, 4).T
        weights = np.array([arc.weight for arc in rows], np.float64)
        return cls(sources, labels, words, weights, targets)

    def check(self, num_nodes: int) -> None:
        """Raises InvalidGraph for arcs that leave none of these nodes, or cannot be stored."""
        if len(self.sources) > MAX_ARCS:
            raise InvalidGraph(f"{len(self.sources)} arcs; at most {MAX_ARCS} are possible")
        if (self.sources < 0).any():
            raise InvalidGraph("an arc leaves a node below 0")
        if (self.sources >= num_nodes).any():
            raise InvalidGraph(f"an arc leaves a node that is not among the {num_nodes}")
        for name, column in (("label", self.labels), ("word", self.words), ("node", self.targets)):
            if (column > np.iinfo(np.int32).max).any():
                raise InvalidGraph(f"{column.max()} is the number of no {name}")


def units_checksum(units: Sequence[str]) -> str:
    """A digest that tells two lists of units apart, 32 hexadecimal digits."""
    return hashlib.blake2b("\n".join(units).encode(), digest_size=16).hexdigest()


_Scalar = TypeVar("_Scalar", bound=np.generic)


def _frozen(array: npt.NDArray[Any], dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    frozen = np.ascontiguousarray(array, dtype)
    frozen.setflags(write=False)
    return frozen


def _check_scalars(graph: Graph) -> None:
    if graph.topology not in TOPOLOGIES:
        raise InvalidGraph(f"there is no topology {graph.topology!r}")
    if not 1 <= graph.vocab_size <= MAX_VOCAB_SIZE:
        raise InvalidGraph(f"{graph.vocab_size} tokens; from 1 to {MAX_VOCAB_SIZE} are possible")
    if not 0 <= graph.blank_id < graph.vocab_size:
        raise InvalidGraph(f"blank {graph.blank_id} is not among the {graph.vocab_size} tokens")
    if not 1 <= graph.num_nodes <= MAX_NODES:
        raise InvalidGraph(f"{graph.num_nodes} nodes; from 1 to {MAX_NODES} are possible")
    if not 0 <= graph.start < graph.num_nodes:
        raise InvalidGraph(f"the start {graph.start} is not among the {graph.num_nodes} nodes")
    if not -1 <= graph.loop_node < graph.num_nodes:
        raise InvalidGraph(f"the loop {graph.loop_node} is not among the {graph.num_nodes} nodes")
    if not abs(graph.unknown_cost) <= MAX_COST:  # written so that NaN fails
        raise InvalidGraph(
            f"the cost of an unknown word is {graph.unknown_cost:g}, not within {MAX_COST:,.0f}"
        )
    if not re.fullmatch("(?:[0-9a-f]{32})?", graph.units_checksum):
        raise InvalidGraph(f"the checksum of the units is {graph.units_checksum!r}")
    if not graph.word_texts or graph.word_texts[0] != NO_WORD_TEXT:
        raise InvalidGraph(f"the text of word 0 is not {NO_WORD_TEXT}")


def _check_shapes(graph: Graph) -> None:
    nodes, arcs = graph.num_nodes, graph.num_arcs
    for name, dtype, length in (
        ("first_arc", np.int32, nodes + 1),
        ("first_label", np.int32, nodes),
        ("labels", np.int32, arcs),
        ("words", np.int32, arcs),
        ("weights", np.float32, arcs),
        ("targets", np.int32, arcs),
        ("finals", np.float32, nodes),
    ):
        array = getattr(graph, name)
        if array.dtype != dtype or array.shape != (length,):
            raise InvalidGraph(
                f"{name} is {array.dtype} {array.shape}, not {np.dtype(dtype)} {(length,)}"
            )
    first, label = graph.first_arc, graph.first_label
    if first[0] != 0 or first[-1] != arcs or (first[1:] < first[:-1]).any():
        raise InvalidGraph("the arcs of the nodes do not follow one another")
    if (label < first[:-1]).any() or (label > first[1:]).any():
        raise InvalidGraph("a node's first label is not among its arcs")


def _check_arcs(graph: Graph) -> None:
    for name, array, end in (
        ("labels", graph.labels, graph.vocab_size + 1),
        ("words", graph.words, len(graph.word_texts)),
        ("targets", graph.targets, graph.num_nodes),
    ):
        if graph.num_arcs and not (int(array.min()) >= 0 and int(array.max()) < end):
            raise InvalidGraph(f"{name}: {array.min()} to {array.max()}, not within 0 to {end - 1}")
    if not np.isfinite(graph.weights).all():
        raise InvalidGraph("the cost of an arc is not finite")
    if np.isnan(graph.finals).any() or (graph.finals == -np.inf).any():
        raise InvalidGraph("the cost of ending at a node is no number")
    _check_order(graph)
    if graph.topology != "explicit" and (graph.labels == graph.blank_id + 1).any():
        raise InvalidGraph(f"blank is a label, though the topology is {graph.topology}")


def _check_order(graph: Graph) -> None:
    """Whether each node's labels ascend, and ``first_label`` is where epsilon ends."""
    begins = np.zeros(graph.num_arcs + 1, bool)
    begins[graph.first_arc] = True
    falls = np.flatnonzero(graph.labels[1:] < graph.labels[:-1]) + 1
    if not begins[falls].all():
        raise InvalidGraph("the arcs of a node are not sorted by label")
    first, label, ends = graph.first_arc[:-1], graph.first_label, graph.first_arc[1:]
    before, behind = graph.labels[label[label > first] - 1], graph.labels[label[label < ends]]
    if (before != EPSILON).any() or (behind == EPSILON).any():  # the others: they ascend
        raise InvalidGraph("a node's first label is not where its epsilon arcs end")
