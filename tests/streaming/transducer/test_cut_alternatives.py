"""Alternatives of a segment that is cut between the words of the likeliest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from scripted_transducer import BLANK, QUIET, SIZE, scripted_transducer, torn
from speaker import ENDLESS, Speaker

from earshot.decoder_kernels.transducer.label_beam import BeamConfig, BeamMemory, LabelBeam
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import UnitTable
from earshot.streaming.transducer.beam_decoder import BeamDecoder, hypotheses_of
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.transcript import Transcript

UNITS = ("a", "b", ".", "\u2581", "<EOU>")
A, B, STOP, SPACE = range(4)
FRAMES = 12


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """As the engine's thread is."""
    with torch.inference_mode():
        yield


def said(*labels: tuple[int, int]) -> Transcript:
    """Labels with their frames."""
    tokens, frames = (tuple(each[place] for each in labels) for place in range(2))
    ends = tuple(frame + 1 for frame in frames)
    return Transcript(tokens, frames, ends, (-0.1,) * len(labels), (-9.0,) * FRAMES)


def speaker_with(*found: Transcript) -> Speaker:
    """A stream that has these hypotheses, the last of them the likeliest."""
    loop = label_loop_of(scripted_transducer(), 1)
    tokenizer = CharTokenizer(UnitTable.of(UNITS, "letters"))
    decoder = BeamDecoder(loop, LabelBeam(loop, BeamConfig(8)), tokenizer, 1)
    unsure = [torn(BLANK, unit) for unit in (A, B, SPACE)]
    speaker = Speaker(decoder, SIZE, ENDLESS, chunk=FRAMES).say([*unsure, *[QUIET] * (FRAMES - 3)])
    memory, hypotheses = decoder._spoken[0], hypotheses_of(speaker.stream.segment)
    count = len(found)
    decoder._spoken[0] = replace(
        memory.only(range(count)), scores=torch.arange(count, dtype=torch.float64)
    )
    kept = hypotheses.only(range(count))
    speaker.stream.segment.search_state = replace(kept, transcripts=found, stable=0)
    return speaker


def cut_at(speaker: Speaker, boundary: int) -> list[str]:
    decoder = speaker.decoder
    assert isinstance(decoder, BeamDecoder)
    decoder.truncate(speaker.stream, boundary)
    assert speaker.stream.segment.frames == boundary
    memory = decoder.memory_of(speaker.stream)
    assert isinstance(memory, BeamMemory)
    assert len(memory.scores) == len(hypotheses_of(speaker.stream.segment).transcripts)
    return [each.text for each in decoder.nbest(speaker.stream, ended=False)]


WORDS = said((A, 1), (SPACE, 8), (B, 9))
INSIDE = said((B, 1), (A, 4), (B, 7), (SPACE, 9))
BEFORE = said((B, 1), (B, 2), (SPACE, 8), (A, 9))


def test_those_that_lose_half_of_a_word_are_not_told() -> None:
    speaker = speaker_with(INSIDE, BEFORE, WORDS)
    assert cut_at(speaker, 6) == ["a", "bb"]


@pytest.mark.parametrize(("boundary", "texts"), [(2, ["a"]), (7, ["a"]), (8, ["a", "bab"])])
def test_a_word_is_whole_up_to_its_last_label(boundary: int, texts: list[str]) -> None:
    assert cut_at(speaker_with(INSIDE, WORDS), boundary) == texts


def test_the_likeliest_stays_wherever_it_is_cut() -> None:
    assert cut_at(speaker_with(WORDS, BEFORE, INSIDE), 6) == ["ba", "bb", "a"]


def test_a_mark_that_came_late_divides_no_word() -> None:
    late = said((B, 1), (STOP, 8), (SPACE, 9), (A, 10))
    assert cut_at(speaker_with(late, WORDS), 6) == ["a", "b"]
