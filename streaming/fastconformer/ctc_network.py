"""The CTC head of a NeMo model, as searches see it."""

from torch import Tensor

from earshot.models.errors import ModelError
from earshot.models.fastconformer.heads import CtcHead


class NemoCtc:
    """See `CtcNetwork`; the blank is the unit after the last label."""

    phone_rate = 1

    def __init__(self, head: CtcHead, vocab_size: int) -> None:
        self._head = head
        self.blank_id = vocab_size

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """Encoder frames `(…, D)` to log-probabilities `(…, V + 1)`."""
        log_probs: Tensor = self._head(encoded)
        return log_probs

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """None. Raises ModelError."""
        raise ModelError("this model has no head over phones")
