"""The CTC head of a NeMo model, as searches see it."""

from torch import Tensor

from earshot.models.errors import ModelError
from earshot.models.fastconformer.heads import CtcHead
from earshot.models.native.ends import NativeCtcHead
from earshot.models.native.precision import Precision
from earshot.models.native.weights import runs_natively


class NemoCtc:
    """See `CtcNetwork`; the blank is the unit after the last label.

    precision: of a native head, whose frames have the same bits in any company.
    """

    phone_rate = 1

    def __init__(self, head: CtcHead, vocab_size: int, precision: Precision = "float32") -> None:
        native = runs_natively(head)
        self._head = NativeCtcHead(head.output, precision=precision) if native else head
        self.blank_id = vocab_size

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """Encoder frames `(…, D)` to log-probabilities `(…, V + 1)`."""
        log_probs: Tensor = self._head(encoded)
        return log_probs

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """None. Raises ModelError."""
        raise ModelError("this model has no head over phones")
