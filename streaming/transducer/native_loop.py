"""A transducer's head as label looping runs it natively."""

from __future__ import annotations

from torch import nn

from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.decoder_kernels.transducer.loop_weights import Linear, LoopWeights
from earshot.models.transducer.transducer import Transducer


def label_loop_of(
    head: Transducer, num_slots: int = 0, boost_capacity: int = 0, processor: str | None = None
) -> LabelLoop:
    """A loop whose weights were copied; see `LabelLoop`."""
    return LabelLoop(loop_weights_of(head), num_slots, boost_capacity, processor)


def loop_weights_of(head: Transducer) -> LoopWeights:
    """The head's weights."""
    config, joint, lstm = head.config, head.joint, head.predictor.lstm
    (labels, durations), (label_bias, duration_bias) = (
        (each[: config.vocab_size + 1], each[config.vocab_size + 1 :])
        for each in (joint.output.weight, joint.output.bias)
    )
    return LoopWeights(
        encoder=_linear(joint.encoder),
        predictor=_linear(joint.predictor),
        labels=(labels, label_bias),
        durations=(durations, duration_bias),
        embedding=head.predictor.embed.weight,
        lstm=[_layer(lstm, number) for number in range(lstm.num_layers)],
        activation=config.activation,
        duration_frames=config.durations,
        max_symbols=config.max_symbols,
    )


def _linear(layer: nn.Linear) -> Linear:
    return layer.weight, layer.bias


def _layer(lstm: nn.LSTM, number: int) -> tuple[Linear, Linear]:
    entered, kept = (
        (getattr(lstm, f"weight_{kind}_l{number}"), getattr(lstm, f"bias_{kind}_l{number}"))
        for kind in ("ih", "hh")
    )
    return entered, kept
