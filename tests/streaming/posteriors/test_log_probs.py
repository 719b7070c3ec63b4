"""Arrays that are refused: nothing is searched that is no log-probability."""

import math

import numpy as np
import pytest
import torch

from earshot.streaming.errors import InvalidLogProbs


def changed(rows, value, frame=3):
    rows = rows.clone()
    rows[0, frame, 5] = value
    return rows


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (lambda rows: rows[0], r"are \(B, T, V\), not \(8, 12\)"),
        (lambda rows: rows[..., :11], "11 log-probabilities in a frame; the graph is of 12"),
        (lambda rows: rows.to(torch.int64), "floats, not torch.int64"),
        (lambda rows: rows.numpy().astype(np.int32), "floats, not int32"),
        (lambda rows: rows.tolist(), "a list is no array"),
        (lambda rows: changed(rows, math.nan), "file 0, frame 3: NaN"),
        (lambda rows: changed(rows, math.inf), "frame 3: inf is above 0"),
        (lambda rows: changed(rows, 0.5), "frame 3: 0.5 is above 0 and no log-probability"),
        (lambda rows: rows.exp(), "above 0 and no log-probability"),
        (lambda rows: rows - 3.0, "sum to 0.0498, not 1"),
        (lambda rows: torch.full_like(rows, -0.5), "sum to 7.28, not 1"),
        (lambda rows: torch.full_like(rows, -math.inf), "sum to 0, not 1"),
    ],
)
def test_what_is_no_log_probability_is_refused(decoder, say, broken, told):
    with pytest.raises(InvalidLogProbs, match=told):
        decoder.decode(broken(say("一二")[None]))


@pytest.mark.parametrize("lengths", [[9], [-1], [1, 2], [2.5], [True], "8", 8])
def test_lengths_that_are_none_are_refused(decoder, say, lengths):
    with pytest.raises(InvalidLogProbs, match="lengths are 1 whole numbers from 0 to 8"):
        decoder.decode(say("一二")[None], lengths)


def test_what_lies_behind_a_files_end_is_not_looked_at(decoder, say):
    rows = say("一二")[None]
    assert decoder.decode(changed(rows, math.nan, frame=7), [7])[0].text == "一二"


def test_a_file_that_is_too_long_is_refused(make_decoder, say):
    decoder = make_decoder(max_frames=7)
    with pytest.raises(InvalidLogProbs, match="8 frames in a file, this decoder takes 7"):
        decoder.decode(say("一二")[None])
    assert decoder.decode(say("一二")[None], [7])[0].text == "一二"


def test_the_callers_array_stays_as_it_is(decoder, say):
    rows = say("一二")[None]
    before = rows.clone()
    decoder.decode(rows)
    assert torch.equal(rows, before)
