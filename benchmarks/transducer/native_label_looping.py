"""Earshot's own label looping in C++, as a row of the tables."""

from __future__ import annotations

import importlib

from benchmarks.transducer.decoding import Batch, Decode, Labels
from benchmarks.wfst.streams import NotRun
from earshot.models.transducer.transducer import Transducer

MODULE = "earshot.streaming.transducer.native_loop"


def native_label_looping(head: Transducer) -> Decode:
    """A decoder with this head's weights. Raises NotRun where this version has none."""
    try:
        module = importlib.import_module(MODULE)
    except ModuleNotFoundError as error:
        raise NotRun("this version of Earshot has no native label looping") from error
    loop = module.label_loop_of(head)

    def decode(batch: Batch) -> list[Labels]:
        found = loop(batch.utterances(), [loop.begin() for _ in batch.lengths])
        return [Labels(list(each.tokens), list(each.frames)) for each in found]

    return decode
