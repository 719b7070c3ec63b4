"""The description of the model that an engine runs, and of its parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ModelDescription:
    """format: in which its files lie on a disk, "earshot" or "wenet" of those that are built in.

    chunk_ms: audio between two steps of one stream. chunks_ms: what streams may ask for instead,
    `WHOLE` among it where a final may hear its segment as a whole.

    modes: how it may be asked to decode, its default first.
    parts: a dataclass by name for each part that may be described, None where the model has none.
    writes_marks: whether it writes capitals and marks itself, if only in the second pass.
    detects_turns: whether it tells how likely a speaker has finished (`streaming/turns`).
    heads: what reads words from its encoder, as "ctc", "attention", "whisper", "rnnt" or "tdt".
    buffered: whether it hears in windows with context on both sides, which partials wait for and
        which cost more, rather than in chunks with a cache.
    languages: BCP 47 tags, empty where the model does not say. weights: the file that makes it what
        it is, if it is a file's. most_earned: nats beyond which no weight of a boost changes
        anything, where a stream asks for no other search; None where none is boosted.
        precision: what its own linear layers multiply, "float32", "bfloat16", "int8" or "w8a8".
    """

    name: str
    format: str
    parameters: int
    vocab_size: int
    sample_rate_hz: int
    chunk_ms: float
    modes: tuple[str, ...]
    parts: Mapping[str, object]
    languages: tuple[str, ...]
    weights: Path | None = None
    most_earned: float | None = None
    precision: str = "float32"
    chunks_ms: tuple[float, ...] = ()
    writes_marks: bool = False
    detects_turns: bool = False
    heads: tuple[str, ...] = ()
    buffered: bool = False
