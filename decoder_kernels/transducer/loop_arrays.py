"""Arrays of label looping on a GPU: a head's weights, and room for lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from earshot.decoder_kernels.transducer.loop_half import LoopHalf
from earshot.decoder_kernels.transducer.loop_weights import Linear, LoopWeights
from earshot.native.dlpack import dlpack_capsule

if TYPE_CHECKING:
    from earshot.decoder_kernels.boosting.boost_arena import BoostArena
    from earshot.decoder_kernels.native import kernels


@dataclass(frozen=True, eq=False)
class HeadArrays:
    """A head's weights with their inputs outermost, as `csrc/looping/loop_params.h` wants them.

    encoder `(D, J)`. answer `(J, V + 1 + N)`: labels, blank and durations side by side. table
    `(V + 1, 4 H)`: of each label the first layer's gates, biases added. recurrent `(H of the first
    layer and 2 H of each other, 4 H)`.
    """

    encoder: Tensor
    encoder_bias: Tensor
    answer: Tensor
    answer_bias: Tensor
    project: Tensor
    project_bias: Tensor
    table: Tensor
    recurrent: Tensor
    gate_bias: Tensor
    duration_frames: Tensor

    @staticmethod
    def of(weights: LoopWeights, device: torch.device) -> HeadArrays:
        """The weights, copied to the device."""
        (encoder, encoder_bias), (predictor, predictor_bias), labels, durations = (
            _floats(each)
            for each in (weights.encoder, weights.predictor, weights.labels, weights.durations)
        )
        (entered, entered_bias), (kept, kept_bias) = map(_floats, weights.lstm[0])
        recurrent, biases = [kept.T], [torch.zeros_like(kept_bias)]
        for layer in weights.lstm[1:]:
            (from_below, below_bias), (from_hidden, hidden_bias) = map(_floats, layer)
            recurrent += [from_below.T, from_hidden.T]
            biases.append(below_bias + hidden_bias)

        def there(tensor: Tensor) -> Tensor:
            return tensor.contiguous().to(device)

        return HeadArrays(
            encoder=there(encoder.T),
            encoder_bias=there(encoder_bias),
            answer=there(torch.cat([labels[0], durations[0]]).T),
            answer_bias=there(torch.cat([labels[1], durations[1]])),
            project=there(predictor.T),
            project_bias=there(predictor_bias),
            table=there(weights.embedding.detach().float() @ entered.T + entered_bias + kept_bias),
            recurrent=there(torch.cat(recurrent)),
            gate_bias=there(torch.stack(biases)),
            duration_frames=torch.tensor(
                list(weights.duration_frames), dtype=torch.int32, device=device
            ),
        )

    def lent(self, half: LoopHalf) -> kernels.cuda.LoopWeights:
        """The arrays, for native code."""
        return half.LoopWeights(
            encoder=dlpack_capsule(self.encoder),
            encoder_bias=dlpack_capsule(self.encoder_bias),
            answer=dlpack_capsule(self.answer),
            answer_bias=dlpack_capsule(self.answer_bias),
            project=dlpack_capsule(self.project),
            project_bias=dlpack_capsule(self.project_bias),
            table=dlpack_capsule(self.table),
            recurrent=dlpack_capsule(self.recurrent),
            gate_bias=dlpack_capsule(self.gate_bias),
            duration_frames=dlpack_capsule(self.duration_frames),
        )


@dataclass(frozen=True, eq=False)
class LaneArrays:
    """Room for B lanes of T frames each.

    numbers `(LANE_NUMBERS, B)`: integers of each lane; words `(LOOP_WORDS,)`: the loop's own; see
    `LaneNumber` and `LoopWord` in `csrc/looping/loop_params.h`. encoded `(B, T, D)`: encoder
    frames; heard `(B, T, J)`: as the joint takes them. memory `(B, S)`: what predictors remember;
    fresh `(B, L, H)`: what their layers say in a turn. answers `(B, V + 1 + N)`: the joint's in it.
    blank_log_probs `(B, T)`: the blank's that passed each frame. found `(3, B, T max_symbols)`:
    labels, their frames and durations. log_probs `(B, T max_symbols)`: theirs.
    """

    numbers: Tensor
    words: Tensor
    encoded: Tensor
    heard: Tensor
    memory: Tensor
    fresh: Tensor
    answers: Tensor
    blank_log_probs: Tensor
    found: Tensor
    log_probs: Tensor
    boosts: BoostArena

    def lent(self, half: LoopHalf) -> kernels.cuda.LoopLanes:
        """The arrays, for native code."""
        return half.LoopLanes(
            numbers=dlpack_capsule(self.numbers),
            words=dlpack_capsule(self.words),
            encoded=dlpack_capsule(self.encoded),
            heard=dlpack_capsule(self.heard),
            memory=dlpack_capsule(self.memory),
            fresh=dlpack_capsule(self.fresh),
            answers=dlpack_capsule(self.answers),
            blank_log_probs=dlpack_capsule(self.blank_log_probs),
            found=dlpack_capsule(self.found),
            log_probs=dlpack_capsule(self.log_probs),
            boost_links=dlpack_capsule(self.boosts.links),
            boost_bonuses=dlpack_capsule(self.boosts.bonuses),
        )


@dataclass(frozen=True)
class LaneRoom:
    """Sizes of the arrays: B lanes, T frames, S numbers that a predictor remembers."""

    lanes: int
    frames: int
    max_symbols: int
    memory_size: int

    def arrays(self, head: HeadArrays, half: LoopHalf, boosts: BoostArena) -> LaneArrays:
        """The arrays, on the head's device."""
        device, lanes, room = head.table.device, self.lanes, self.frames * self.max_symbols
        layers, hidden = head.gate_bias.shape[0], head.project.shape[0]

        def whole(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.int32, device=device)

        def floats(*shape: int) -> Tensor:
            return torch.zeros(shape, device=device)

        return LaneArrays(
            numbers=whole(half.LANE_NUMBERS, lanes),
            words=whole(half.LOOP_WORDS),
            encoded=floats(lanes, self.frames, len(head.encoder)),
            heard=floats(lanes, self.frames, len(head.answer)),
            memory=floats(lanes, self.memory_size),
            fresh=floats(lanes, layers, hidden),
            answers=floats(lanes, head.answer.shape[1]),
            blank_log_probs=floats(lanes, self.frames),
            found=whole(3, lanes, room),
            log_probs=floats(lanes, room),
            boosts=boosts,
        )


def _floats(layer: Linear) -> Linear:
    """The layer in float32: half as many bits would round what is added up here."""
    weight, bias = layer
    return weight.detach().float(), bias.detach().float()
