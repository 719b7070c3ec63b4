"""Labels of a segment that is over, or is not."""

from types import SimpleNamespace

import pytest
from random_nemo import random_nemo

from earshot.decoder_kernels.transducer.label_loop import NO_BLANK
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.stream.segment import Segment
from earshot.streaming.transducer.marks import Marks
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transcript import Transcript
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

FOUND = Transcript((1, 2), (0, 1), (1, 4), (-0.1, -0.2), (NO_BLANK,) * 3)
"""The last label lasts one frame longer than the stretch."""


@pytest.fixture
def decoder() -> TransducerDecoder:
    loaded = random_nemo("windows, tdt")
    return TransducerDecoder(label_loop_of(loaded.model.transducer, 1), loaded.tokenizer, 1)


@pytest.fixture
def stream() -> SimpleNamespace:
    return SimpleNamespace(segment=Segment(0, None, search_state=FOUND), boosts=NO_BOOSTS, slot=0)


def test_no_label_of_a_final_lasts_longer_than_its_segment(decoder, stream) -> None:
    [found] = decoder.nbest(stream, ended=True)
    assert found.ends == (1, 3)
    assert found.tokens == FOUND.tokens


def test_a_label_may_last_beyond_what_was_heard_so_far(decoder, stream) -> None:
    [best] = decoder.best([stream])
    assert best.hypothesis.ends == (1, 4)


def test_marks_of_a_final_are_told_with_their_words(decoder, stream, monkeypatch) -> None:
    monkeypatch.setattr(decoder._spelling, "marks", Marks(("<unk>", "▁so", ".")))
    [found] = decoder.nbest(stream, ended=True)
    assert found.frames == (0, 0)
