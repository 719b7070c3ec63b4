"""What finals say of their words, and whether it is so: recordings through an engine's streams."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import jiwer
import numpy as np
import soundfile

from benchmarks.recognition.confidence_measures import Words
from benchmarks.server.long_stream import decode
from earshot.streaming.assembly.engine_factory import build_engine
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.events import Final
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.parts.resolver import find_parts
from earshot.streaming.stream_config import StreamConfig

RATE_HZ = 16000


class ToldWords:
    """The words of one stream's finals after the other."""

    def __init__(self, graph: Path, sizes: GraphSearchConfig) -> None:
        config = EngineConfig(max_streams=1, threads=1, graph_search=sizes)
        parts = {**find_parts(), "graph": graph}
        self._engine = build_engine(None, parts, config, device="cpu")
        self._engine.start()
        self.all, self.of_corpus = Words(), defaultdict[str, Words](Words)
        self.finals = 0

    def take(self, path: Path, corpus: str, truth: str) -> None:
        """Recognise a recording of 16 kHz."""
        samples, _ = soundfile.read(path, dtype="float32")
        blocks = np.array_split(samples, len(samples) // RATE_HZ + 1)
        events = decode(self._engine, blocks, StreamConfig(interim_results=False))
        finals = [event for event in events if isinstance(event, Final)]
        told = [word for final in finals for word in final.alternatives[0].words]
        right = right_words(truth, [word.text for word in told])
        for words in (self.all, self.of_corpus[corpus]):
            words.take([word.confidence for word in told], right)
        self.finals += len(finals)

    def close(self) -> int:
        """End the engine; return of how many finals it has given up the lattice."""
        self._engine.stop(60)
        return self._engine.stats.search.lattice_timeouts


def right_words(truth: str, words: Sequence[str]) -> list[bool]:
    """Which words of a hypothesis the transcript has too."""
    right = [False] * len(words)
    if words:
        for chunk in jiwer.process_words(truth, " ".join(words)).alignments[0]:
            if chunk.type == "equal":
                right[chunk.hyp_start_idx : chunk.hyp_end_idx] = [True] * (
                    chunk.hyp_end_idx - chunk.hyp_start_idx
                )
    return right
