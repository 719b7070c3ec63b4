"""The CTC heads of a model that serves: natively where they can be, by torch elsewhere."""

from __future__ import annotations

from torch import Tensor

from earshot.models.native.ends import NativeCtcHead
from earshot.models.native.precision import Precision
from earshot.models.native.weights import runs_natively
from earshot.models.u2.u2 import U2Model


class NativeCtcHeads:
    """A model's CTC heads, copied: a frame has the same bits in any company."""

    def __init__(
        self, model: U2Model, processor: str | None = None, precision: Precision = "float32"
    ) -> None:
        self.blank_id = model.blank_id
        self.phone_rate = model.phone_rate
        self._tokens = NativeCtcHead(model.ctc.ctc_lo, 1, processor, precision)
        phones = model.phone_ctc
        self._phones = phones and NativeCtcHead(phones.ctc_lo, phones.rate, processor, precision)

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """Log-probabilities of tokens, see `U2Model`."""
        return self._tokens(encoded)

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """Log-probabilities of phones, see `U2Model`."""
        assert self._phones is not None
        return self._phones(encoded)


def ctc_heads(model: U2Model, precision: Precision = "float32") -> U2Model | NativeCtcHeads:
    """The fastest for this model where it is; its weights must not change from now on.

    Another kind of model may have heads of its own, and answers for itself.
    """
    if type(model) is U2Model and runs_natively(model):
        return NativeCtcHeads(model, precision=precision)
    return model
