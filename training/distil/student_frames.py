"""The frames of a student that a teacher's are compared with."""

from __future__ import annotations

from types import TracebackType

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from earshot.models.u2.u2 import U2Model
from earshot.training.distil.teacher import FRAME_FEATURES


class StudentFrames:
    """The last output of a model's closing norm, before anything narrows it for the heads.

    It is seen from `watch` on, or inside of it as a context manager.
    """

    def __init__(self, model: U2Model) -> None:
        self.frames = torch.empty(0)
        self._encoder = model.encoder
        self._handle: RemovableHandle | None = None

    @property
    def rate(self) -> int:
        """The teacher's frames for each of the student's."""
        return self._encoder.subsampling_rate // FRAME_FEATURES

    def watch(self) -> StudentFrames:
        """Sees all that is encoded from now on."""
        self._handle = self._encoder.after_norm.register_forward_hook(self._remember)
        return self

    def __enter__(self) -> StudentFrames:
        return self.watch()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            self._handle.remove()

    def _remember(self, module: nn.Module, inputs: object, output: Tensor) -> None:
        self.frames = output
