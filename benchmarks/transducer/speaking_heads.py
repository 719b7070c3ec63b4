"""Heads with random weights that find labels as often as trained ones do.

With weights as they are drawn the blank wins everywhere or nowhere, and a frame that has one label
has the most that are allowed. So the joint is lifted to where its ReLU passes nearly all, the
predictor's projection is fitted so that a label that was said hushes itself, and then the biases of
durations and of the blank are moved until held speech has the shares and the rate asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from benchmarks.transducer.decoding import Batch
from benchmarks.transducer.torch_label_looping import TorchLabelLooping
from earshot.models.transducer.transducer import Transducer
from earshot.models.transducer_config import TransducerConfig

LABELS_HZ = 3.5
"""Labels a second of audio, as of English in 1,024 pieces: 0.28 a frame of 80 ms."""
DURATION_SHARES = (0.02, 0.27, 0.31, 0.23, 0.17)
"""How often a joint's word advances by 0, 1, 2, 3, 4 frames."""
LIFT, HUSH = 3.0, 5.0
"""Of the joint's sums, and of the logit of the label that was said last, in deviations."""
SECONDS = (4.0, 16.0)
TOLERANCE = 0.02
SAMPLED, HELD = 4096, 32
"""Evaluations of the joint, and utterances, that biases are found on."""
SEED = 20261127


@dataclass(frozen=True)
class HeadShape:
    """D of the encoder, and layers of the predictor; H and J are 640, V is 1,024."""

    name: str
    encoder_size: int
    predictor_layers: int

    def config(self, durations: tuple[int, ...]) -> TransducerConfig:
        """A head of this shape; without durations an RNN-T."""
        return TransducerConfig(
            1024, self.encoder_size, 640, 640, self.predictor_layers, durations=durations
        )


def random_batch(size: int, utterances: int, rate_hz: float, seed: int) -> Batch:
    """Utterances of 4 to 16 s, 10 s in the mean, whose frames of `size` D are noise.

    A single one has 10 s; the lengths of several are spread evenly, in an order at random.
    """
    chance = torch.Generator().manual_seed(seed)
    low, high = SECONDS
    places = (torch.randperm(utterances, generator=chance) + 0.5) / utterances
    lengths = [round(rate_hz * (low + place * (high - low))) for place in places.tolist()]
    rows = [torch.randn(length, size, generator=chance) for length in lengths]
    return Batch(pad_sequence(rows, batch_first=True), lengths, rate_hz)


def speaking_head(config: TransducerConfig, rate_hz: float, seed: int = SEED) -> Transducer:
    """A head that finds LABELS_HZ labels a second in `random_batch`es of so many frames a second.

    Raises RuntimeError where no bias of the blank reaches the rate.
    """
    return head_for(config, random_batch(config.encoder_size, HELD, rate_hz, seed + 1), None, seed)


@torch.inference_mode()
def head_for(
    config: TransducerConfig, held: Batch, frames: Tensor | None, seed: int = SEED
) -> Transducer:
    """A head that finds LABELS_HZ labels a second in `held`.

    frames: (N, D) like those of `held`, that the joint is fitted to; noise if None. Raises
    RuntimeError where no bias of the blank reaches the rate.
    """
    torch.manual_seed(seed)
    head = Transducer(config).eval().requires_grad_(False)
    logits = _speak(head, torch.randn(SAMPLED, config.encoder_size) if frames is None else frames)
    mean_duration = _share_durations(head, logits) if config.durations else None
    labels = LABELS_HZ / held.rate_hz
    first = _first_bias(logits[:, : config.vocab_size + 1], labels, mean_duration)

    def labels_hz(bias: float) -> float:
        head.joint.output.bias[config.blank_id] = bias
        return sum(len(each.tokens) for each in TorchLabelLooping(head)(held)) / held.audio_s

    bisect(labels_hz, LABELS_HZ, first - 1, first + 1)
    return head


def bisect(rate: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a falling `rate` is within TOLERANCE of what is wanted. Raises RuntimeError."""
    for _ in range(20):
        middle = (low + high) / 2
        found = rate(middle)
        if abs(found - wanted) <= TOLERANCE * wanted:
            return middle
        low, high = (middle, high) if found > wanted else (low, middle)
    raise RuntimeError(f"the rate is {found:.3f}, not {wanted:.3f}")


def _speak(head: Transducer, frames: Tensor) -> Tensor:
    """Set the layers as the module says; gives logits (N, V + 1 + durations) of frames (N, D)."""
    output, count = head.joint.output, len(frames)
    output.weight /= output.weight.norm(dim=-1, keepdim=True)
    output.weight[head.config.blank_id] = 0  # else a frame that is far from it has many labels
    output.bias.copy_(-LIFT * output.weight.sum(-1))
    heard = _standardise(head.joint.encoder, frames) + LIFT
    head.joint.encoder.bias += LIFT
    labels = torch.randint(head.config.vocab_size, (4, count))
    state = head.predictor.start(count)
    for row in labels:
        outputs, state = head.predictor(row, state)
    _fit(head.joint.predictor, outputs, -HUSH * output.weight[labels[-1]])
    return head.joint(heard, head.joint.predictor(outputs))


def _fit(layer: nn.Linear, inputs: Tensor, wanted: Tensor) -> None:
    """Set a layer so that its outputs for inputs (N, H) come near those wanted (N, J)."""
    mean = inputs.mean(0)
    covariance = (inputs - mean).T @ (inputs - mean)
    covariance += 0.01 * covariance.diagonal().mean() * torch.eye(len(mean))
    weight = torch.linalg.solve(covariance, (inputs - mean).T @ wanted).T
    layer.weight.copy_(weight)
    layer.bias.copy_(-weight @ mean)


def _standardise(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Outputs (N, C) of a layer that is changed so that they are 0 in the mean and deviate by 1."""
    found = layer(inputs)
    mean = found.mean(0)
    scale = 1 / (found - mean).square().mean().sqrt()
    layer.weight.mul_(scale)
    layer.bias.sub_(mean).mul_(scale)
    return (found - mean) * scale


def _share_durations(head: Transducer, logits: Tensor) -> float:
    """Move the durations' biases until each wins its share; gives the mean duration in frames."""
    durations, wanted = head.config.durations, torch.tensor(DURATION_SHARES)
    biases, scores = torch.zeros(len(wanted)), logits[:, -len(durations) :]
    for _ in range(100):
        won = (scores + biases).argmax(-1).bincount(minlength=len(wanted)) / len(scores)
        biases += 0.3 * (wanted / won.clamp(min=1 / len(scores))).log()
    head.joint.output.bias[-len(durations) :] += biases
    return float((wanted * torch.tensor(durations)).sum())


def _first_bias(logits: Tensor, labels: float, mean_duration: float | None) -> float:
    """The blank's bias for so many labels a frame, were evaluations independent.

    logits: (N, V + 1). mean_duration: None of an RNN-T, where only a blank ends a frame.
    """
    share = labels / (1 + labels) if mean_duration is None else labels * mean_duration
    margins = logits[:, :-1].amax(-1) - logits[:, -1]
    return float(margins.quantile(1 - min(share, 0.95)))
