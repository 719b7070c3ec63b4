"""Earshot's own label looping in C++, as a row of the tables."""

from __future__ import annotations

from benchmarks.transducer.decoding import Batch, Decode, Labels
from earshot.decoder_kernels.transducer.device_loop import DeviceLabelLoop
from earshot.decoder_kernels.transducer.label_loop import LabelLoop
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.transducer.native_loop import label_loop_of


def native_label_looping(head: Transducer) -> Decode:
    """A decoder with this head's weights."""
    return decoding_by(label_loop_of(head))


def decoding_by(loop: LabelLoop | DeviceLabelLoop) -> Decode:
    """A decoder by this loop."""

    def decode(batch: Batch) -> list[Labels]:
        walked = loop(batch.utterances(), [loop.begin()] * len(batch.lengths))
        return [Labels(each.tokens, each.frames) for each in walked if each is not None]

    return decode
