"""An arm that takes turns: sherpa-onnx in process, on an export of `peer_export`, on one thread.

Runs under the peer's own Python, which has neither torch nor Earshot.
"""

import argparse
from pathlib import Path

import sherpa_onnx

from benchmarks.peers.sherpa import SherpaRecognizer
from benchmarks.peers.turns import answer_turns


def main() -> None:
    """Take turns until nobody asks; clips end with what their last chunk looks ahead to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", type=Path)
    parser.add_argument("--together", type=int, required=True)
    for name in ("tokens", "encoder", "decoder", "joiner"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    recognizer = sherpa_onnx.OnlineRecognizer.from_transducer(
        tokens=asked.tokens, encoder=asked.encoder, decoder=asked.decoder, joiner=asked.joiner,
        num_threads=1, decoding_method="greedy_search",
    )  # fmt: skip
    answer_turns(SherpaRecognizer(recognizer, tail_s=0.0).decode, asked.clips, asked.together)


if __name__ == "__main__":
    main()
