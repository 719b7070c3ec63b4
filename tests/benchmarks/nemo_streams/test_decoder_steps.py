"""Steps of decoders as the benchmark of beams takes them."""

import pytest
import torch
from scripted_transducer import BLANK, QUIET, SIZE, frame, frames_of, scripted_transducer

from benchmarks.nemo_streams.decoder_steps import FIRST_LETTER, stepping, words_of
from earshot.decoder_kernels.transducer.label_beam import BeamConfig, LabelBeam
from earshot.streaming.transducer.beam_decoder import BeamDecoder
from earshot.streaming.transducer.label_decoder import LabelDecoder
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder


@pytest.mark.parametrize("beam", [False, True])
def test_partials_are_told_of_all_frames_in_each_round(
    monkeypatch: pytest.MonkeyPatch, beam: bool
) -> None:
    loop, words = label_loop_of(scripted_transducer(), 2), words_of(BLANK)
    decoder: LabelDecoder = (
        BeamDecoder(loop, LabelBeam(loop, BeamConfig(2)), words, 2)
        if beam
        else TransducerDecoder(loop, words, 2)
    )
    told: list[list[str]] = []
    best = decoder.best

    def telling(streams):  # type: ignore[no-untyped-def]
        found = best(streams)
        told.append([each.hypothesis.text for each in found])
        return found

    monkeypatch.setattr(decoder, "best", telling)
    letters = [chr(FIRST_LETTER + unit) for unit in range(BLANK)]
    first, other = frames_of([frame(0), QUIET]), frames_of([frame(1), frame(2)])
    with torch.inference_mode():
        run = stepping(decoder, [[first, other], [other, first]])
        run()
        run()
    assert first.shape == (2, SIZE)
    wanted = [letters[0], letters[1] + letters[2]]
    whole = [wanted[0] + wanted[1], wanted[1] + wanted[0]]
    assert told == [wanted, whole] * 2
