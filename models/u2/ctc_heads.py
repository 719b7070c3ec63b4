"""The CTC heads of a model that serves: natively where they can be, by torch elsewhere."""

from __future__ import annotations

from torch import Tensor

from earshot.models.native.ends import NativeCtcHead
from earshot.models.native.weights import runs_natively
from earshot.models.u2.u2 import U2Model


class NativeCtcHeads:
    """A model's CTC heads, copied: a frame has the same bits in any company."""

    def __init__(self, model: U2Model, processor: str | None = None) -> None:
        self.blank_id = model.blank_id
        self.phone_rate = model.phone_rate
        self._tokens = NativeCtcHead(model.ctc.ctc_lo, processor=processor)
        phones = model.phone_ctc
        self._phones = phones and NativeCtcHead(phones.ctc_lo, phones.rate, processor)

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        """Log-probabilities of tokens, see `U2Model`."""
        return self._tokens(encoded)

    def phone_log_probs(self, encoded: Tensor) -> Tensor:
        """Log-probabilities of phones, see `U2Model`."""
        assert self._phones is not None
        return self._phones(encoded)


def ctc_heads(model: U2Model) -> U2Model | NativeCtcHeads:
    """The fastest for this model where it is; its weights must not change from now on.

    Another kind of model may have heads of its own, and answers for itself.
    """
    return NativeCtcHeads(model) if type(model) is U2Model and runs_natively(model) else model
