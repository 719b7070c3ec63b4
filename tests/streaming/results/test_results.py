import math
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earshot.decoder_kernels.prefix.prefix_search import PrefixHypothesis
from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.results.hypothesis import TokenHypothesis
from earshot.streaming.results.results import (
    Scored,
    SegmentClock,
    alternative,
    distinct,
    first_pass_scores,
    token_times,
)
from earshot.streaming.results.retold import written_as

CLOCK = SegmentClock(start_s=10.0, end_s=20.0, frame_s=0.04)


def test_a_token_lasts_a_tenth_of_a_second_up_to_its_frames_end():
    assert token_times([24], None, CLOCK) == [pytest.approx((10.9, 11.0))]


def test_neighbours_meet_in_the_middle():
    (_, first_end), (second_start, second_end) = token_times([24, 25], None, CLOCK)
    assert first_end == second_start == pytest.approx(11.02)
    assert second_end == pytest.approx(11.04)


def test_times_stay_in_the_audio_of_the_segment():
    (start, _), (_, end) = token_times([0, 400], None, CLOCK)
    assert (start, end) == (10.0, 20.0)


def test_a_lead_in_is_no_part_of_the_streams_time():
    clock = SegmentClock(start_s=10.0, end_s=20.0, frame_s=0.04, lead_in_s=0.2)
    assert [clock.at(frame) for frame in (0, 5, 10)] == [10.0, 10.0, 10.2]
    assert token_times([2, 9], None, clock) == [
        (pytest.approx(10.0), pytest.approx(10.04)),
        (pytest.approx(10.1), pytest.approx(10.2)),
    ]


def test_times_never_run_backwards():
    frames = [0, 1, 2, 5, 6, 20, 21, 22, 260, 261, 262]
    times = [time for span in token_times(frames, None, CLOCK) for time in span]
    assert times == sorted(times)


def spans(*times: float):
    return [pytest.approx(span) for span in pairwise(times)]


def test_a_token_of_an_rnnt_lasts_a_frame_which_those_that_share_it_divide():
    found = token_times([10, 10, 11, 20], [11, 11, 12, 21], CLOCK)
    assert found == [*spans(10.4, 10.42, 10.44, 10.48), *spans(10.8, 10.84)]


def test_a_token_of_a_tdt_lasts_the_frames_that_it_says():
    durations, frames = [4, 0, 2, 4], [10, 14, 14, 16]
    ends = [frame + lasts for frame, lasts in zip(frames, durations, strict=True)]
    assert token_times(frames, ends, CLOCK) == spans(10.4, 10.56, 10.6, 10.64, 10.8)


def test_a_token_that_lasts_no_frame_has_its_own():
    assert token_times([10, 30], [10, 34], CLOCK) == [*spans(10.4, 10.44), *spans(11.2, 11.36)]


def test_a_token_ends_where_the_next_one_begins():
    assert token_times([10, 12], [15, 13], CLOCK) == spans(10.4, 10.48, 10.52)


def test_tokens_behind_the_audio_are_at_its_end():
    assert token_times([248, 260], [264, 264], CLOCK) == spans(19.92, 20.0, 20.0)


@st.composite
def tokens_with_ends(draw) -> tuple[list[int], list[int]]:
    """Tokens that last up to eight frames, whatever comes next; some share a frame."""
    steps = draw(st.lists(st.integers(0, 5), max_size=30))
    frames = list(accumulate(steps))
    return frames, [frame + draw(st.integers(0, 8)) for frame in frames]


@given(
    tokens_with_ends(),
    st.floats(0, 1e5),
    st.sampled_from([0.01, 0.04, 0.08]),
    st.sampled_from([0.0, 0.24]),
)
def test_tokens_with_ends_are_in_order_apart_and_last_some_time(
    tokens, start_s, frame_s, lead_in_s
):
    frames, ends = tokens
    roomy = SegmentClock(start_s - lead_in_s, start_s + 1e3, frame_s)
    found = token_times(frames, ends, roomy)
    assert len(found) == len(frames)
    assert all(start < end for start, end in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))
    cut = SegmentClock(start_s, start_s + 2.0, frame_s, lead_in_s)
    times = [time for span in token_times(frames, ends, cut) for time in span]
    assert times == sorted(times)
    assert all(cut.start_s <= time <= cut.end_s for time in times)


@dataclass(frozen=True)
class Lasting:
    """What a transducer has found; see `FoundTokens`."""

    tokens: tuple[int, ...]
    frames: tuple[int, ...]
    ends: tuple[int, ...]
    score: float = -1.0

    @property
    def token_log_probs(self):
        return [0.0] * len(self.tokens)


def test_a_word_lasts_until_its_last_token_ends(tone_model):
    found = TokenHypothesis(Lasting((3, 4), (10, 16), (14, 20)), tone_model.tokenizer, NO_BOOSTS)
    for each in (found, written_as(found, ["一", "二。"])):
        words = alternative(first_pass_scores(each), CLOCK).words
        assert [(word.start_s, word.end_s) for word in words] == [(10.4, 10.56), (10.64, 10.8)]


def hypothesis(tone_model, tokens, confidences, score=-1.0) -> TokenHypothesis:
    frames = tuple(range(10, 10 + 5 * len(tokens), 5))
    logs = tuple(math.log(c) for c in confidences)
    found = PrefixHypothesis(tuple(tokens), frames, score, score, 0.0, logs)
    return TokenHypothesis(found, tone_model.tokenizer, NO_BOOSTS)


def test_an_alternative_has_words_and_the_mean_of_their_confidences(tone_model):
    said = alternative(first_pass_scores(hypothesis(tone_model, [3, 4], [0.5, 0.9])), CLOCK)
    assert said.text == "一二"
    assert [word.confidence for word in said.words] == pytest.approx([0.5, 0.9])
    assert said.confidence == pytest.approx(0.7)
    assert said.score == -1.0


def test_what_the_second_pass_says_of_tokens_comes_before_the_first(tone_model):
    heard = hypothesis(tone_model, [3], [0.5])
    assert first_pass_scores(heard).token_confidences == pytest.approx([0.5])
    assert Scored(heard, -1.0, [0.25]).token_confidences == [0.25]


def test_what_the_search_says_of_words_comes_before_what_is_said_of_tokens(tone_model):
    class Sure(TokenHypothesis):
        word_confidences = (0.9, 0.3)

    heard = hypothesis(tone_model, [3, 4], [0.5, 0.5])
    sure = Sure(heard.found, heard.tokenizer, heard.boosts)
    said = alternative(Scored(sure, -1.0, [0.25, 0.25]), CLOCK)
    assert [word.confidence for word in said.words] == [0.9, 0.3]
    assert said.confidence == pytest.approx(0.6)


def test_candidates_with_one_text_are_one(tone_model):
    tokens = [[3], [4], [1, 3], [5]]  # <unk> has no text
    scored = [
        first_pass_scores(hypothesis(tone_model, each, [1.0] * len(each), -float(i)))
        for i, each in enumerate(tokens)
    ]
    found = distinct(scored, 2)
    assert [(each.hypothesis.text, each.score) for each in found] == [("一", 0), ("二", -1)]


@pytest.mark.parametrize(("stable_length", "words"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_a_word_is_stable_when_the_next_one_is_begun(tone_model, stable_length, words):
    heard = hypothesis(tone_model, [3, 4, 5], [1.0] * 3)
    assert heard.with_stable(stable_length).stable_words == words


def test_a_written_form_goes_with_its_word(tone_model):
    scored = first_pass_scores(hypothesis(tone_model, [3, 4], [0.5, 0.9]))
    told = replace(scored, hypothesis=written_as(scored.hypothesis, [None, "二。"]))
    said = alternative(told, CLOCK)
    assert (said.text, [word.written for word in said.words]) == ("一二", [None, "二。"])
