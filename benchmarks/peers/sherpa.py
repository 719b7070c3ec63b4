"""sherpa-onnx (PyPI), in process: its online recogniser on an export of `sherpa_export`.

Runs under the peer's own Python, which has neither torch nor Earshot.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sherpa_onnx

from benchmarks.peers.turns import Samples, answer_turns

RATE_HZ = 16_000
TAIL_S = 0.8
"""Silence after a recording, for the chunk that is not full: the default of its server."""


class SherpaRecognizer:
    """One of its online recognisers, without endpoints: a recording is one utterance."""

    def __init__(self, recognizer: Any, tail_s: float = TAIL_S) -> None:
        self._recognizer, self._tail_s = recognizer, tail_s

    def decode(self, audio: Sequence[Samples]) -> list[str]:
        """Texts of recordings, a stream each and all at once; partial results after each chunk."""
        streams = [self._stream(samples) for samples in audio]
        while ready := [each for each in streams if self._recognizer.is_ready(each)]:
            self._recognizer.decode_streams(ready)
            for each in ready:
                self._recognizer.get_result(each)
        return [self._recognizer.get_result(each) for each in streams]

    def _stream(self, samples: Samples) -> Any:
        stream = self._recognizer.create_stream()
        stream.accept_waveform(RATE_HZ, samples)
        stream.accept_waveform(RATE_HZ, np.zeros(round(self._tail_s * RATE_HZ), np.float32))
        stream.input_finished()
        return stream


def main() -> None:
    """Take turns until nobody asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", type=Path)
    parser.add_argument("tokens", type=Path)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--together", type=int, required=True)
    parser.add_argument("--chunk-size", type=int, required=True)
    parser.add_argument("--num-left-chunks", type=int, required=True)
    asked = parser.parse_args()
    recognizer = sherpa_onnx.OnlineRecognizer.from_wenet_ctc(
        tokens=str(asked.tokens), model=str(asked.network), chunk_size=asked.chunk_size,
        num_left_chunks=asked.num_left_chunks, num_threads=1, decoding_method="greedy_search",
    )  # fmt: skip
    answer_turns(SherpaRecognizer(recognizer).decode, asked.clips, asked.together)


if __name__ == "__main__":
    main()
