import math
from dataclasses import replace

import pytest

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
    assert token_times([24], CLOCK) == [pytest.approx((10.9, 11.0))]


def test_neighbours_meet_in_the_middle():
    (_, first_end), (second_start, second_end) = token_times([24, 25], CLOCK)
    assert first_end == second_start == pytest.approx(11.02)
    assert second_end == pytest.approx(11.04)


def test_times_stay_in_the_audio_of_the_segment():
    (start, _), (_, end) = token_times([0, 400], CLOCK)
    assert (start, end) == (10.0, 20.0)


def test_a_lead_in_is_no_part_of_the_streams_time():
    clock = SegmentClock(start_s=10.0, end_s=20.0, frame_s=0.04, lead_in_s=0.2)
    assert [clock.at(frame) for frame in (0, 5, 10)] == [10.0, 10.0, 10.2]
    assert token_times([2, 9], clock) == [
        (pytest.approx(10.0), pytest.approx(10.04)),
        (pytest.approx(10.1), pytest.approx(10.2)),
    ]


def test_times_never_run_backwards():
    frames = [0, 1, 2, 5, 6, 20, 21, 22, 260, 261, 262]
    times = [time for span in token_times(frames, CLOCK) for time in span]
    assert times == sorted(times)


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
