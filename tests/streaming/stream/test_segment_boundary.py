from dataclasses import replace
from types import SimpleNamespace

import pytest

from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.results.hypothesis import SpokenWord, TokenHypothesis
from earshot.streaming.stream.endpoint import Endpoint
from earshot.streaming.stream.segment_boundary import (
    behind_late_label,
    earliest_boundary,
    off_label,
    word_boundary,
)

FRAME_MS = 40.0


def boundary(tone_model, token_frames, frames=200, blank_run=0) -> int:
    """Every token is a word of its own here."""
    endpoint = Endpoint("max_utterance", frames, blank_run)
    tokens = tuple(3 + index % 9 for index in range(len(token_frames)))
    found = PrefixHypothesis(tokens, tuple(token_frames), 0.0, 0.0, 0.0, (0.0,) * len(tokens))
    best = TokenHypothesis(found, tone_model.tokenizer, NO_BOOSTS)
    return word_boundary(endpoint, best, FRAME_MS)


def test_the_widest_gap_wins(tone_model):
    assert boundary(tone_model, [100, 104, 120, 124, 190]) == 157  # between 125 and 190
    assert boundary(tone_model, [100, 130, 150, 154, 190]) == 172


def test_the_last_of_equal_gaps_wins(tone_model):
    assert boundary(tone_model, list(range(0, 200, 10))) == 185


def test_gaps_in_the_first_half_or_too_far_back_do_not_count(tone_model):
    assert boundary(tone_model, [0, 60, 64, 68, 90, 94]) > 68
    assert boundary(tone_model, [0, 300, 480, 484, 488], frames=500) == 390
    assert boundary(tone_model, [0, 100, 480, 484, 488], frames=500) == 486


def test_the_silence_at_the_end_counts_once_it_is_long_enough(tone_model):
    assert boundary(tone_model, [100, 104, 108, 112], blank_run=80) == 160
    assert boundary(tone_model, [180, 184, 188, 194], blank_run=5) == 191


def test_a_segment_without_a_gap_is_cut_where_it_ends(tone_model):
    assert boundary(tone_model, []) == 200
    assert boundary(tone_model, [150]) == 200


def test_both_words_keep_their_tokens(tone_model):
    frames = [120, 121, 125, 126, 127]
    for first in range(len(frames) - 1):
        cut = boundary(tone_model, frames[: first + 2], frames=130)
        assert sum(frame < cut for frame in frames[: first + 2]) in range(1, first + 2)


def test_a_member_of_several_words_is_not_parted():
    frames = [110, 130, 180, 190]
    words = [SpokenWord("word", place, place + 1, False) for place in range(len(frames))]
    best = SimpleNamespace(words=words, frames=frames, ends=None)
    endpoint = Endpoint("max_utterance", 200, 0)
    assert word_boundary(endpoint, best, FRAME_MS) == (131 + 180) // 2
    words[2] = replace(words[2], goes_on=True)
    assert word_boundary(endpoint, best, FRAME_MS) == (111 + 130) // 2
    words[1] = replace(words[1], goes_on=True)
    assert word_boundary(endpoint, best, FRAME_MS) == (181 + 190) // 2


def lasting_boundary(frames, ends) -> int:
    """Of words of a token each, which a transducer has found in 200 frames."""
    words = [SpokenWord("word", place, place + 1, False) for place in range(len(frames))]
    best = SimpleNamespace(words=words, frames=frames, ends=ends)
    return word_boundary(Endpoint("max_utterance", 200, 0), best, FRAME_MS)


def test_a_gap_begins_where_the_word_before_it_ends():
    frames = [100, 130, 155, 170]
    assert lasting_boundary(frames, None) == (101 + 130) // 2
    assert lasting_boundary(frames, [128, 140, 156, 174]) == (140 + 155) // 2


@pytest.mark.parametrize("ends", [[151, 151, 161], [150, 154, 160]])
def test_words_that_share_a_frame_are_not_parted(ends):
    assert lasting_boundary([150, 150, 160], ends) == (ends[1] + 160) // 2
    assert lasting_boundary([150, 150], ends[:2]) == 200


def test_a_word_that_is_said_to_last_into_the_next_is_cut_where_that_begins():
    assert lasting_boundary([150, 154], [170, 171]) == 154
    assert lasting_boundary([150, 151], [150, 151]) == 151


BLANK = 9


@pytest.mark.parametrize(
    ("boundary", "spikes", "expected"),
    [
        (2, [4], 2),  # in blanks
        (4, [4], 4),  # where a label begins
        (5, [4], 7),  # it has spiked: the left side's
        (5, [5], 4),  # it has not: the right side's
        (7, [4], 7),  # where it ends
    ],
)
def test_a_label_that_lasts_over_a_boundary_is_one_sides(boundary, spikes, expected):
    units = [1, BLANK, BLANK, BLANK, 3, 3, 3, BLANK]
    assert off_label(boundary, 1, 7, units, BLANK, spikes) == expected


def test_a_label_whose_end_is_unknown_or_another_segments_is_the_right_sides():
    assert off_label(3, 1, 3, [1, 2, 2, 2, BLANK], BLANK, [1]) == 1
    assert off_label(3, 1, 4, [1, 2, 2, 2], BLANK, [1]) == 1


def test_a_boundary_never_comes_to_the_start():
    assert off_label(2, 1, 4, [2, 2, 2, 2], BLANK, [0]) == 2


def test_the_end_of_all_that_is_known_is_no_place_within_a_label():
    assert off_label(3, 1, 3, [1, 2, 2], BLANK, [1]) == 3


def test_a_cut_goes_no_further_back_than_what_is_still_there():
    endpoint = Endpoint("max_utterance", 500, 0)
    earliest = earliest_boundary(endpoint, FRAME_MS)
    assert earliest == 375
    units = [3] + [5] * 499
    assert off_label(400, earliest, 500, units, BLANK, [0, 480]) == 400
    units = [3] * 380 + [5] * 120
    assert off_label(400, earliest, 500, units, BLANK, [0, 480]) == 380


@pytest.mark.parametrize(
    ("units", "tokens", "frames", "boundary", "expected"),
    [
        ([0, 0, 0, 0, 2, 2, 0, 3, 0, 0], [2, 3], [1, 7], 4, 6),  # heard from the boundary on
        ([0, 0, 0, 0, 0, 2, 2, 0, 3, 0], [2, 3], [1, 8], 4, 7),  # heard behind it
        ([0, 0, 0, 2, 2, 2, 0, 0, 3, 0], [2, 3], [1, 8], 4, 6),  # late, and lasts over it
        ([0, 0, 2, 0, 0, 2, 2, 0, 3, 0], [2, 3], [1, 8], 4, 4),  # heard before: another follows
        ([0, 2, 0, 0, 0, 2, 0, 2, 0, 0], [2, 2], [1, 7], 4, 4),  # "bye bye", and a third
        ([0, 0, 0, 0, 2, 0, 0, 2, 0, 0], [2, 2], [1, 7], 3, 5),  # "bye bye", both heard late
        ([0, 0, 2, 0, 0, 0, 2, 0, 0, 0], [2, 2], [1, 5], 4, 4),  # "bye bye", each before its cut
        ([0, 0, 0, 2, 0, 0, 2, 0, 0, 0], [2, 2], [1, 4], 7, 7),  # whose is the second one?
        ([0, 0, 0, 0, 0, 0, 0, 3, 0, 0], [2, 3], [1, 7], 4, 4),  # never heard
        ([0, 0, 0, 0, 2, 2, 2, 2, 2, 0], [2, 3], [1, 6], 4, 4),  # into the next label
        ([0, 0, 0, 0, 0, 2, 2, 2, 2, 2], [2], [1], 4, 4),  # over the segment's end
        ([0, 0, 0, 0, 0, 2, 0, 0, 0, 0], [2], [6], 4, 4),  # nothing was found before
        ([2, 2, 2, 2, 2, 0, 0, 0, 0, 0], [2], [1], 4, 4),  # CTC was first: `off_label` knows
    ],
)
def test_a_cut_goes_behind_a_label_that_ctc_hears_later(
    units: list[int], tokens: list[int], frames: list[int], boundary: int, expected: int
) -> None:
    assert behind_late_label(boundary, units, tokens, frames) == expected
