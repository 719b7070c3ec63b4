# Generated: make stubs.
"""Native kernels: the CPU half, and the CUDA half where it was built."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

from earshot.decoder_kernels._native import cpu as cpu
from earshot.decoder_kernels._native import cuda as cuda
from earshot.native.dlpack import Lendable

class Launch:
    """Threads per block, CPU workers, and the CUDA stream."""

    def __init__(
        self, *, threads: int, workers: int, stream: int, with_lm: bool = False
    ) -> None: ...

class SearchShape:
    """The sizes that a search is built for."""

    def __init__(
        self,
        *,
        beam_size: int,
        token_beam: int,
        blank_id: int,
        vocab_size: int,
        node_capacity: int,
        boost_candidates: bool,
    ) -> None: ...

class WfstShape:
    """The sizes that a WFST search is built for."""

    def __init__(
        self,
        *,
        topology: int,
        num_nodes: int,
        start: int,
        loop_node: int,
        vocab_size: int,
        blank_id: int,
        num_levels: int,
        max_tokens: int,
        backpointer_capacity: int,
        entry_capacity: int,
        candidate_capacity: int,
    ) -> None: ...

def find_peaks(
    emissions: Annotated[
        Lendable, dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False)
    ],
    skippable: Annotated[
        Lendable, dict(dtype="uint8", shape=(None,), order="C", device="cpu", writable=False)
    ],
    peaks: Annotated[Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu")],
) -> None:
    """Write the frame at which each token is likeliest on the best path."""

class LmPacked:
    """What an image has."""

    @property
    def order(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def text_bytes(self) -> int: ...
    @property
    def rows(self) -> list[int]: ...
    @property
    def tallies(self) -> int: ...
    @property
    def states(self) -> int: ...
    @property
    def holes(self) -> int: ...
    @property
    def clamped(self) -> int: ...

class LmPacker:
    """Makes an image of ARPA text that comes in pieces."""

    def __init__(self, folder: str, memory: int) -> None: ...
    def feed(self, piece: bytes, source: str) -> None:
        """Raises GraphSourceError, naming the line, and OSError."""

    def finish(self, path: str, source: str) -> LmPacked:
        """Write all but the header and the checksums."""

    @property
    def is_complete(self) -> bool: ...

class LmImage:
    """A language model's image in memory."""

    def __init__(
        self,
        content: Annotated[
            Lendable, dict(dtype="uint8", shape=(None,), order="C", device="cpu", writable=False)
        ],
        *,
        order: int,
        words: int,
        text_bytes: int,
        rows: Sequence[int],
        tallies: int,
        states: int,
        unknown_cost: int,
    ) -> None: ...
    def find_word(self, word: str) -> int:
        """A word's number, or NO_WORD."""

    def find_words(
        self,
        words: Sequence[str],
        numbers: Annotated[Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Write the numbers of words."""

    def text_of(self, number: int) -> bytes:
        """The UTF-8 of a word."""

    def find(self, state: int, word: int) -> tuple[int, int]:
        """What a word costs after a state, and the state after it."""

    def look_up(
        self,
        states: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        words: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        costs: Annotated[Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu")],
        after: Annotated[Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Write for each state and word its cost, and the state after it."""

    def back_off(self, state: int) -> int:
        """What it costs to leave all words of a state."""

class LmMixture:
    """Images that are asked about the same words, and mixed."""

    def __init__(
        self,
        images: Sequence[LmImage],
        log_shares: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        words: Annotated[
            Lendable,
            dict(dtype="uint32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        added: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def price(
        self,
        ends: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        costs: Annotated[Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Write what texts cost, in nats, that end there in the words."""

class NumberedLm:
    """An image, and its numbers of a graph's words."""

    def __init__(
        self,
        image: LmImage,
        numbers: Annotated[
            Lendable, dict(dtype="uint32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class SearchLm:
    """The language models of a slot's search."""

    def __init__(
        self,
        small: NumberedLm,
        large: Sequence[NumberedLm],
        log_shares: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        classes: Annotated[
            Lendable,
            dict(dtype="uint32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        before: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        *,
        scale: float,
        gain: int,
        history_beam: int,
    ) -> None: ...
    @property
    def beginning(self) -> int:
        """The state before the first word, packed (lm_words.h)."""

class SlotBoosts:
    """The boost tables that a slot has had."""

    def __init__(self) -> None: ...
    def change(
        self,
        frame: int,
        links: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        bonuses: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None:
        """Another table from a frame on."""

    def remove(self, frame: int) -> None:
        """No table from a frame on."""

    def restart(self) -> None:
        """The same table from the first frame on."""

    def earned(self, words: Sequence[int], frames: Sequence[int]) -> int:
        """What completed phrases have earned, in the search's unit."""

class WordConfidences:
    """How sure a lattice is of words."""

    def __init__(
        self,
        *,
        frames: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        sources: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        targets: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        words: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        costs: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        scale: float,
        coverage: float,
    ) -> None: ...
    def of(self, words: Sequence[int], frames: Sequence[int]) -> list[float]:
        """Confidence in 0..1 of each word."""

def arc_posteriors(
    *,
    frames: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    sources: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    targets: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    costs: Annotated[
        Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
    ],
    scale: float,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The share of all paths that goes through each arc."""

def price_lattice(
    *,
    frames: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    sources: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    targets: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    words: Annotated[
        Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
    ],
    costs: Annotated[
        Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
    ],
    terms: Sequence[tuple[LmMixture, float]],
    beginning: Sequence[int],
    count: int,
    ended: bool,
    max_lookups: int,
) -> list[tuple[tuple[int, ...], tuple[int, ...], float, float]] | None:
    """The cheapest paths once models have priced them, or None."""

class ResultLane:
    """Where a slot's records are, and how to read them."""

    def __init__(
        self,
        *,
        keys: int,
        costs: int,
        histories: int,
        backpointers: int,
        num_tokens: int,
        num_frames: int,
        lattice_beam: int,
        graph_scale: float,
        finalize: bool,
        boosts: SlotBoosts,
        lm: SearchLm | None = None,
        words: int = 0,
        has_whole_lm: bool = False,
        members: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None = None,
    ) -> None: ...

class ResultReader:
    """Reads the results of a search's slots."""

    def __init__(
        self,
        finals: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def nbest(
        self,
        memory: Annotated[
            Lendable,
            dict(dtype="uint8", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lanes: Sequence[ResultLane],
        count: int,
        max_steps: int = 1048576,
    ) -> list[list[tuple[tuple[int, ...], tuple[int, ...], int, int, bool]] | None]:
        """Each lane's hypotheses, cheapest first, or None."""

    def lattices(
        self,
        memory: Annotated[
            Lendable,
            dict(dtype="uint8", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lanes: Sequence[ResultLane],
        max_steps: int = 1048576,
    ) -> list[
        tuple[
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.float64], dict(shape=(None,))],
            float,
            bool,
        ]
        | None
    ]:
        """Each lane's lattice, or None."""

    def confidences(
        self,
        memory: Annotated[
            Lendable,
            dict(dtype="uint8", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lanes: Sequence[ResultLane],
        scale: float,
        coverage: float,
    ) -> list[WordConfidences | None]:
        """Each lane's WordConfidences, or None."""

class TokenLm:
    """A back-off n-gram over a transducer's labels."""

    def __init__(
        self,
        first_arc: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        token: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        target: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        log_prob: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        shorter: Annotated[
            Lendable, dict(dtype="int32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        back_off: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class FoundHypothesis:
    """What it has said in a chunk."""

    @property
    def parent(self) -> int: ...
    @property
    def tokens(self) -> list[int]: ...
    @property
    def frames(self) -> list[int]: ...
    @property
    def durations(self) -> list[int]: ...
    @property
    def log_probs(self) -> list[float]: ...
    @property
    def blank_log_probs(self) -> list[float]: ...

class FoundBeam:
    """The hypotheses of a lane's chunk."""

    @property
    def hypotheses(self) -> list[FoundHypothesis]: ...
    @property
    def finite(self) -> bool: ...

class LoopLayer:
    """A linear layer of a transducer's head."""

    def __init__(
        self,
        weight: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        bias: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class FoundLabels:
    """The labels that a lane's chunk holds."""

    @property
    def tokens(self) -> list[int]: ...
    @property
    def frames(self) -> list[int]: ...
    @property
    def durations(self) -> list[int]: ...
    @property
    def log_probs(self) -> list[float]: ...
    @property
    def finite(self) -> bool: ...

class LabelLoop:
    """Greedy decoding by a transducer's head."""

    def __init__(
        self,
        *,
        encoder: LoopLayer,
        predictor: LoopLayer,
        labels: LoopLayer,
        durations: LoopLayer,
        embedding: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lstm: Sequence[tuple[LoopLayer, LoopLayer]],
        activation: str,
        duration_frames: Sequence[int],
        max_symbols: int,
        processor: str,
    ) -> None: ...
    @property
    def memory_size(self) -> int:
        """Floats that a lane remembers."""

    def begin(
        self,
        memory: Annotated[Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Write what is remembered before the first label."""

    def run(
        self,
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        encoded: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        memory: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None), order="C", device="cpu")
        ],
        carried: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        blank_log_probs: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")
        ],
        boost_links: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_bonuses: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        tables: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        workers: int,
    ) -> list[FoundLabels]:
        """Walk over a chunk of each lane."""

    def search(
        self,
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        encoded: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        counts: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        memory: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        carried: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        scores: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        memory_after: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None), order="C", device="cpu")
        ],
        carried_after: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        scores_after: Annotated[
            Lendable, dict(dtype="float64", shape=(None,), order="C", device="cpu")
        ],
        boost_links: Annotated[
            Lendable,
            dict(dtype="int32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        boost_bonuses: Annotated[
            Lendable,
            dict(dtype="float64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        tables: Annotated[
            Lendable,
            dict(dtype="int64", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        lm_weights: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        width: int,
        in_frames: bool,
        narrow: float,
        lm: TokenLm | None,
        workers: int,
    ) -> list[FoundBeam]:
        """Search a beam over a chunk of each lane."""

BEAM_CARRIED: int = 5

def processors() -> list[str]:
    """The kinds of processor that this one can run code for."""
