"""The network as CTC searches see it, of whichever family."""

from typing import Protocol

from torch import Tensor


class CtcNetwork(Protocol):
    """A network with a CTC head over tokens, and maybe one over phones."""

    @property
    def blank_id(self) -> int:
        """The token that is none."""

    @property
    def phone_rate(self) -> int:
        """Frames of the phone head for each of the encoder's."""

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """Encoder frames `(…, D)` to log-probabilities of tokens `(…, V)`."""

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """`(…, T, D)` to those of phones `(…, T * phone_rate, phones + 1)`, the blank first.

        Only of a network with phones.
        """
