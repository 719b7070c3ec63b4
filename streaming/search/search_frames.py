"""Frames that searches walk over: of tokens, or of the phones of a graph."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor

from earshot.streaming.search.ctc_network import CtcNetwork
from earshot.streaming.search.ctc_output import ctc_output
from earshot.streaming.search.search import padded
from earshot.streaming.stream.lane import Lane
from earshot.streaming.words.graph_words import GraphWords


class SearchFrames(ABC):
    """Log-probabilities of the units that a search knows."""

    def __init__(self, network: CtcNetwork) -> None:
        self._network = network

    @abstractmethod
    def batch(self, lanes: Sequence[Lane]) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the lanes' used frames `(B, T, V)`, and their lengths `(B,)`."""

    @abstractmethod
    def whole(self, encoded: Tensor) -> Tensor:
        """Log-probabilities of encoder frames: `(…, T, D)` to `(…, T', V)`."""


class TokenFrames(SearchFrames):
    """One frame for each of the encoder's, which the first pass knows already."""

    def batch(self, lanes: Sequence[Lane]) -> tuple[Tensor, Tensor]:
        """Log-probabilities of tokens as the encoder step left them."""
        return padded([ctc_output(lane).log_probs[: lane.used] for lane in lanes])

    def whole(self, encoded: Tensor) -> Tensor:
        """By the CTC head."""
        return self._network.ctc_log_probs(encoded).float()


class PhoneFrames(SearchFrames):
    """Some phone frames for each of the encoder's."""

    def batch(self, lanes: Sequence[Lane]) -> tuple[Tensor, Tensor]:
        """By the phone head, all lanes at once."""
        encoded, lengths = padded([lane.encoded[: lane.used] for lane in lanes])
        return self.whole(encoded).contiguous(), lengths * self._network.phone_rate

    def whole(self, encoded: Tensor) -> Tensor:
        """By the phone head."""
        return self._network.phone_log_probs(encoded)


def frames_of(words: GraphWords, network: CtcNetwork) -> SearchFrames:
    """Frames of what the words of a graph are spelled in."""
    return PhoneFrames(network) if words.units == "phones" else TokenFrames(network)
