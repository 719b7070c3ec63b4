"""kaldi-decoder (PyPI): Kaldi's decoders on the CPU."""

import math
from pathlib import Path
from typing import Any

import kaldi_decoder
import kaldifst

from benchmarks.wfst.posteriors import Floats


class KaldiSearch:
    """One decoder on an explicit graph in OpenFst's const form, which serves it fastest."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    def decode(self, log_probs: Floats) -> float:
        """Cost of the best path in nats, the final one included where it ends at a final node."""
        self._decoder.decode(kaldi_decoder.DecodableCtc(log_probs))
        found, path = self._decoder.get_best_path(True)
        if not found:
            return math.inf
        _, _, _, weight = kaldifst.get_linear_symbol_sequence(path)
        return float(weight.value1 + weight.value2)


def read_graph(path: Path) -> Any:
    """The graph as these decoders take it."""
    return kaldifst.StdConstFst.read(str(path))


def faster_decoder(graph: Any, beam: float, max_active: int) -> KaldiSearch:
    """FasterDecoder: the best path, no alternatives."""
    options = kaldi_decoder.FasterDecoderOptions()
    options.beam, options.max_active = beam, max_active
    return KaldiSearch(kaldi_decoder.FasterDecoder(graph, options))


def lattice_decoder(graph: Any, beam: float, lattice_beam: float) -> KaldiSearch:
    """LatticeSimpleDecoder: with alternatives. It knows no max_active."""
    options = kaldi_decoder.LatticeSimpleDecoderConfig()
    options.beam, options.lattice_beam = beam, lattice_beam
    return KaldiSearch(kaldi_decoder.LatticeSimpleDecoder(graph, options))
