"""A network's transducer as the oracles take it."""

from __future__ import annotations

import torch
from torch import Tensor

from earshot.models.transducer.predictor import PredictorState
from earshot.models.transducer.transducer import Transducer


class NetworkHead:
    """One row of a Transducer."""

    def __init__(self, network: Transducer) -> None:
        self._network = network
        self.blank = network.config.blank_id
        self.durations = network.config.durations

    def start(self) -> PredictorState:
        return self._network.predictor.start(1)

    def say(self, label: int, state: PredictorState) -> tuple[Tensor, PredictorState]:
        said, state = self._network.say(torch.tensor([label]), state)
        return said[0], state

    def outputs(self, frame: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
        return self._network.split(self._network.joint(frame, said))
