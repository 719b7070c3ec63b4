"""What a search asks of the batches it is given, and how it is launched over them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import torch
from torch import Tensor

from earshot.decoder_kernels.errors import InvalidInput
from earshot.decoder_kernels.native import kernels
from earshot.native.dlpack import DlpackCapsule, dlpack_capsule

_REFUSALS = {1: "NaN or plus infinity", 2: "a frame without any finite log-probability"}


Advance: TypeAlias = Callable[
    [DlpackCapsule, DlpackCapsule, DlpackCapsule, DlpackCapsule, kernels.Launch], None
]
"""A kernel of slots, log-probabilities, lengths and status, as `LaneBatch.advance` has them."""


@dataclass(frozen=True)
class LaneBatch:
    """The batches of a search with ``num_slots`` slots over ``vocab_size`` tokens on a device.

    ``parallel`` lanes at most share a launch; None for no bound.
    """

    num_slots: int
    vocab_size: int
    device: torch.device
    block_threads: int
    workers: int
    parallel: int | None = None

    def launch(self, *, with_lm: bool = False) -> kernels.Launch:
        """On the device's current stream.

        ``with_lm``: by the kernels for slots that have language models in their search.
        """
        if self.device.type == "cpu":
            return self._cpu_launches[with_lm]
        stream = torch.get_device_module(self.device).current_stream(self.device)
        return self._launch(stream.cuda_stream, with_lm=with_lm)

    @cached_property
    def _cpu_launches(self) -> tuple[kernels.Launch, kernels.Launch]:
        return self._launch(0, with_lm=False), self._launch(0, with_lm=True)

    def _launch(self, stream: int, *, with_lm: bool) -> kernels.Launch:
        return kernels.Launch(
            threads=self.block_threads, workers=self.workers, stream=stream, with_lm=with_lm
        )

    def slots(self, slots: Tensor) -> Tensor:
        """The slots ``(B,)`` int64 on the device. Raises InvalidInput unless distinct and there."""
        _require_numbers("slots", slots)
        chosen: list[int] = slots.tolist()
        if len(set(chosen)) != len(chosen) or not all(0 <= s < self.num_slots for s in chosen):
            raise InvalidInput(f"slots must be distinct and in 0..{self.num_slots - 1}: {chosen}")
        return slots.to(self.device, torch.int64).contiguous()

    def advance(
        self,
        kernel: Advance,
        slots: Tensor,
        log_probs: Tensor,
        lengths: Tensor,
        *,
        with_lm: bool = False,
    ) -> None:
        """Search one chunk: slots ``(B,)``, log_probs ``(B, T, V)`` float32, lengths ``(B,)``.

        ``with_lm``: see `launch`. Raises InvalidInput for what cannot be a batch, and afterwards
        one that names the lanes which the kernel has refused.
        """
        chosen = self.slots(slots)
        self.check(chosen, log_probs, lengths)
        status = torch.zeros(len(chosen), dtype=torch.int32, device=self.device)
        rows = log_probs.detach().contiguous()
        on_device = lengths.to(self.device, torch.int64).contiguous()
        for slot, row, length, state in self._shares(chosen, rows, on_device, status):
            kernel(
                dlpack_capsule(slot),
                dlpack_capsule(row),
                dlpack_capsule(length),
                dlpack_capsule(state),
                self.launch(with_lm=with_lm),
            )
        _raise_refused(status)

    def _shares(self, *batch: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """What each launch gets of the tensors ``(B, ...)``."""
        lanes = len(batch[0])
        if self.parallel is None or lanes <= self.parallel:
            yield batch
            return
        for start in range(0, lanes, self.parallel):
            yield tuple(tensor[start : start + self.parallel] for tensor in batch)

    def check(self, slots: Tensor, log_probs: Tensor, lengths: Tensor) -> None:
        """Raises InvalidInput unless log_probs is ``(B, T, V)`` float32 and lengths ``(B,)``."""
        lanes = len(slots)
        if log_probs.ndim != 3 or log_probs.shape[::2] != (lanes, self.vocab_size):
            raise InvalidInput(
                f"log_probs must be ({lanes}, T, {self.vocab_size}): {tuple(log_probs.shape)}"
            )
        if log_probs.dtype != torch.float32 or log_probs.get_device() != slots.get_device():
            raise InvalidInput(f"log_probs must be float32 on {self.device}")
        _require_numbers("lengths", lengths)
        frames: list[int] = lengths.tolist()
        if len(frames) != lanes or not all(0 <= t <= log_probs.shape[1] for t in frames):
            raise InvalidInput(f"lengths must be {lanes} numbers in 0..{log_probs.shape[1]}")


def _require_numbers(name: str, numbers: Tensor) -> None:
    """Raises InvalidInput unless they are ``(B,)`` integers."""
    if numbers.ndim != 1 or numbers.dtype not in (torch.int64, torch.int32):
        kind = f"{tuple(numbers.shape)} of {numbers.dtype}"
        raise InvalidInput(f"{name} must be (B,) int64 or int32: {kind}")


def _raise_refused(status: Tensor) -> None:
    """Raises InvalidInput that names the lanes ``(B,)`` which the kernel has not searched."""
    refused = {lane: code for lane, code in enumerate(status.tolist()) if code}
    if refused:
        reasons = "; ".join(f"lane {lane}: {_REFUSALS[code]}" for lane, code in refused.items())
        raise InvalidInput(f"log-probabilities cannot be searched: {reasons}", tuple(refused))
