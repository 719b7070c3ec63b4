# Generated: make stubs.
"""
Networks on the CPU: stems, a conformer's step, CTC heads, trees of tokens.
"""

import enum
from collections.abc import Sequence
from typing import Annotated

from earshot.native.dlpack import Lendable

class Activation(enum.Enum):
    swish = 0

    relu = 1

    gelu = 2

class Precision(enum.Enum):
    """What a layer multiplies."""

    float32 = 0

    bfloat16 = 1

    int8 = 2

    w8a8 = 3

class LinearWeights:
    def __init__(
        self,
        weight: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        bias: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        precision: Precision = Precision.float32,
    ) -> None: ...

class NormWeights:
    def __init__(
        self,
        scale: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        shift: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        eps: float,
        frozen_stats: bool = False,
    ) -> None: ...

class FeedForwardWeights:
    def __init__(self, norm: NormWeights, up: LinearWeights, down: LinearWeights) -> None: ...

class PosWeights:
    def __init__(
        self,
        linear_pos: LinearWeights,
        bias_u: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        bias_v: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class AttentionWeights:
    def __init__(
        self,
        norm: NormWeights,
        query: LinearWeights,
        key: LinearWeights,
        value: LinearWeights,
        out: LinearWeights,
        pos: PosWeights | None,
    ) -> None: ...

class ConvolutionWeights:
    def __init__(
        self,
        input_norm: NormWeights,
        content: LinearWeights,
        gate: LinearWeights,
        kernel: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        bias: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        norm: NormWeights,
        out: LinearWeights,
        zeros_beside: bool = False,
    ) -> None: ...

class LayerWeights:
    def __init__(
        self,
        macaron: FeedForwardWeights | None,
        attention: AttentionWeights,
        convolution: ConvolutionWeights | None,
        feed_forward: FeedForwardWeights,
        norm_final: NormWeights | None,
    ) -> None: ...

class TreeLayerWeights:
    def __init__(
        self,
        self_attention: AttentionWeights,
        cross_attention: AttentionWeights | None,
        feed_forward: FeedForwardWeights,
    ) -> None: ...

class TimeConvolutionWeights:
    def __init__(self, layer: LinearWeights, kernel: int, stride: int) -> None: ...

class Conv1dStem:
    """A stem of convolutions over time."""

    def __init__(
        self,
        *,
        convolutions: Sequence[TimeConvolutionWeights],
        activation: Activation,
        out: LinearWeights | None,
        processor: str,
    ) -> None: ...
    def run(
        self,
        features: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        begins: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        embedded: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Write what becomes of each lane's features."""

class CtcHead:
    """A linear layer and a log-softmax."""

    def __init__(self, *, layer: LinearWeights, rate: int, processor: str) -> None: ...
    def run(
        self,
        encoded: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        log_probs: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Write log-probabilities of each frame's symbols."""

class GrownTree:
    """What is kept of a tree and of its memory."""

    def __len__(self) -> int:
        """Nodes that it has."""

class GrowingTrees:
    """A transformer over trees that grow."""

    def __init__(
        self,
        *,
        size: int,
        heads: int,
        activation: Activation,
        after_norm: NormWeights,
        silence: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None,
        processor: str,
    ) -> None: ...
    def add(self, block: TreeLayerWeights) -> None:
        """Pack one more block."""

    def add_output(self, rows: LinearWeights) -> None:
        """Pack OUTPUTS_IN_BLOCK more rows of the output, or its last."""

    def listen(
        self,
        memory: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> GrownTree:
        """A tree without nodes, about memory (T, D)."""

    def grow(
        self,
        trees: Sequence[GrownTree],
        embedded: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        first_nodes: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        first_chains: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        chain_starts: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        first_steps: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        paths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        best_outputs: Annotated[
            Lendable, dict(dtype="int64", shape=(None, None), order="C", device="cpu")
        ],
        best_scores: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Add nodes to trees, and write what is likeliest after each."""

    def answer(
        self,
        trees: Sequence[GrownTree],
        owners: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        nodes: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        outputs: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        scores: Annotated[Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Write how likely outputs are after nodes."""

OUTPUTS_IN_BLOCK: int = 128

class DepthwiseWeights:
    def __init__(
        self,
        kernel: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        bias: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class PlaneStageWeights:
    def __init__(self, depthwise: DepthwiseWeights | None, layer: LinearWeights) -> None: ...

class Conv2dStem:
    """A stem of convolutions over time and frequency."""

    def __init__(
        self,
        *,
        bins: int,
        before: int,
        after: int,
        stages: Sequence[PlaneStageWeights],
        out: LinearWeights,
        processor: str,
    ) -> None: ...
    def run(
        self,
        features: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        firsts: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        wanted: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        embedded: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Write the frames that are wanted of each lane's window."""

class RelativeAttentionWeights:
    def __init__(
        self,
        layers: AttentionWeights,
        bias_u: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        bias_v: Annotated[
            Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu", writable=False)
        ],
        places: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> None: ...

class FastConformerLayerWeights:
    def __init__(
        self,
        first: FeedForwardWeights,
        attention: RelativeAttentionWeights,
        convolution: ConvolutionWeights,
        second: FeedForwardWeights,
        norm_out: NormWeights,
    ) -> None: ...

class FastConformerStep:
    """The layers of a FastConformer."""

    def __init__(
        self, *, size: int, heads: int, reach: int, causal: bool, processor: str
    ) -> None: ...
    def add(self, layer: FastConformerLayerWeights) -> None:
        """Pack one more layer."""

    def run(
        self,
        stem: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        left: int,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        offsets: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        att_cache: Annotated[
            Lendable,
            dict(
                dtype="float32",
                shape=(None, None, None, None, None),
                order="C",
                device="cpu",
                writable=False,
            ),
        ],
        cnn_cache: Annotated[
            Lendable,
            dict(
                dtype="float32",
                shape=(None, None, None, None),
                order="C",
                device="cpu",
                writable=False,
            ),
        ],
        encoded: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        att_columns: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None, None, None, None), order="C", device="cpu"),
        ],
        next_cnn_cache: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Hear a chunk of streams; writes the three arrays before the last."""

    def run_alone(
        self,
        stem: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        left: int,
        right: int,
        in_chunks: bool,
        encoded: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Hear utterances by themselves."""

def score_prefixes(
    log_probs: Annotated[
        Lendable, dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False)
    ],
    labels: Annotated[
        Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
    ],
    blank: int,
    scores: Annotated[Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")],
) -> None:
    """
    Write how well CTC has heard the first labels, for each number of them.
    """

def processors() -> list[str]:
    """What this processor can run, the fastest first."""

def multiplies_bfloat16_faster() -> bool:
    """Whether bfloat16 is multiplied at a higher rate than float32."""

class ConformerStep:
    """The blocks of a conformer."""

    def __init__(
        self,
        *,
        size: int,
        heads: int,
        activation: Activation,
        feed_forward_scale: float,
        after_norm: NormWeights,
        pool_after_block: int | None,
        narrow: LinearWeights | None,
        processor: str,
    ) -> None: ...
    def add(self, block: LayerWeights) -> None:
        """Pack one more block."""

    def run(
        self,
        stem: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ],
        pos_emb: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ]
        | None,
        slots: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        cached: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        att_cache: Annotated[
            Lendable,
            dict(
                dtype="float32",
                shape=(None, None, None, None, None),
                order="C",
                device="cpu",
                writable=False,
            ),
        ],
        cnn_cache: Annotated[
            Lendable,
            dict(
                dtype="float32",
                shape=(None, None, None, None),
                order="C",
                device="cpu",
                writable=False,
            ),
        ],
        encoded: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None), order="C", device="cpu")
        ],
        att_columns: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None, None, None, None), order="C", device="cpu"),
        ],
        next_cnn_cache: Annotated[
            Lendable, dict(dtype="float32", shape=(None, None, None, None), order="C", device="cpu")
        ],
        workers: int,
    ) -> None:
        """Move lanes on by a chunk; writes the three arrays before the last."""

class TreeScores:
    """A transformer over trees of tokens."""

    def __init__(
        self,
        *,
        size: int,
        heads: int,
        activation: Activation,
        layers: Sequence[TreeLayerWeights],
        after_norm: NormWeights,
        output: LinearWeights,
        processor: str,
    ) -> None: ...
    def run(
        self,
        embedded: Annotated[
            Lendable,
            dict(dtype="float32", shape=(None, None), order="C", device="cpu", writable=False),
        ],
        first_nodes: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        tokens: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        parents: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        first_chains: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        chain_starts: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        first_steps: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        paths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ],
        memory: Annotated[
            Lendable,
            dict(
                dtype="float32", shape=(None, None, None), order="C", device="cpu", writable=False
            ),
        ]
        | None,
        memory_lengths: Annotated[
            Lendable, dict(dtype="int64", shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        end: int,
        nodes: Annotated[Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")],
        ends: Annotated[Lendable, dict(dtype="float32", shape=(None,), order="C", device="cpu")],
        workers: int,
    ) -> None:
        """Write how likely each node's token is, and an end after it."""
