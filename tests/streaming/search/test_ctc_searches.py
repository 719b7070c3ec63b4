"""The searches over a CTC head, whatever network it is part of."""

from types import SimpleNamespace

import pytest
import torch

from earshot.streaming.boosting.boosting import NO_BOOSTS
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.held_lms import StreamLms
from earshot.streaming.results.hypothesis import Best
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_searches import build_searches, graph_search_sizes
from earshot.streaming.stream.segment import Segment
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.words.graph_words import GraphWords

CONFIG = EngineConfig(max_streams=2, threads=1)


class Head:
    """A CTC head without a network: encoder frames are log-probabilities already."""

    phone_rate = 1

    def __init__(self, blank_id: int) -> None:
        self.blank_id = blank_id

    def ctc_log_probs(self, encoded: torch.Tensor) -> torch.Tensor:
        return encoded


def searches(tokenizer, words=None, blank_id=0, *, second_pass=True):
    return build_searches(
        Head(blank_id),
        tokenizer,
        words,
        CONFIG,
        vocab_size=max(tokenizer.vocab_size, blank_id + 1),
        max_segment_frames=100,
        device=torch.device("cpu"),
        second_pass=second_pass,
    )


class FakeStream(SimpleNamespace):
    """What a search asks a stream for."""

    __hash__ = object.__hash__


def best(search, vocab_size: int, tokens, blank_id: int = 0) -> Best:
    """What a search finds where each of the tokens is all but certain, with a blank between."""
    frames = [each for token in tokens for each in (token, blank_id)]
    encoded = torch.nn.functional.one_hot(torch.tensor(frames), vocab_size) * 20.0
    stream = FakeStream(
        slot=1,
        segment=Segment(0, detector=None),
        boosts=NO_BOOSTS,
        lms=StreamLms(),
        search_counts=SearchCounts(),
        config=StreamConfig(),
        settings=SimpleNamespace(chunking=SimpleNamespace(frame_ms=40)),
    )
    search.rewind(stream, encoded.log_softmax(-1))
    [found] = search.best([stream])
    return found


def heard(*given, **options) -> tuple[int, ...]:
    """The tokens of that."""
    return best(*given, **options).hypothesis.tokens


@pytest.mark.parametrize("name", ["prefix", "greedy"])
def test_tokens_are_searched_over_any_network_with_a_ctc_head(tone_model, name):
    tokenizer = tone_model.tokenizer
    found = heard(searches(tokenizer)[name], tokenizer.vocab_size, [3, 4, 4])
    assert found == (3, 4, 4)


@pytest.mark.parametrize("name", ["prefix", "greedy"])
def test_the_blank_is_where_the_network_has_it(tone_model, name):
    size = tone_model.tokenizer.vocab_size
    search = searches(tone_model.tokenizer, blank_id=size - 1)[name]
    assert heard(search, size, [0, 3], blank_id=size - 1) == (0, 3)


def test_a_graph_is_searched_where_there_is_one(tone_model, digit_loop):
    tokenizer = tone_model.tokenizer
    words = GraphWords(digit_loop(tokenizer.vocab_size), tokenizer)
    assert set(searches(tokenizer)) == {"prefix", "greedy"}
    assert set(searches(tokenizer, words)) == {"prefix", "greedy", "graph"}


def test_in_a_graph_too_the_blank_is_where_the_network_has_it(tone_model, digit_loop):
    size = tone_model.tokenizer.vocab_size + 1
    words = GraphWords(digit_loop(size, blank_id=size - 1), tone_model.tokenizer)
    search = searches(tone_model.tokenizer, words, blank_id=size - 1)["graph"]
    assert heard(search, size, [3, 5, 6], blank_id=size - 1) == (3, 5, 6)


@pytest.mark.parametrize("second_pass", [True, False])
def test_words_wait_for_a_second_pass_where_there_is_one(tone_model, digit_loop, second_pass):
    tokenizer = tone_model.tokenizer
    words = GraphWords(digit_loop(tokenizer.vocab_size), tokenizer)
    search = searches(tokenizer, words, second_pass=second_pass)["graph"]
    found = best(search, tokenizer.vocab_size, [3, 4, 7])
    assert [word.text for word in found.hypothesis.words] == ["一", "二", "五"]
    assert (found.stable_words == 0) is second_pass


def test_boosts_of_few_streams_have_room_as_of_many():
    assert graph_search_sizes(CONFIG).boost_capacity == 64 * 1024
    many = graph_search_sizes(EngineConfig(max_streams=100, threads=1))
    assert many.boost_capacity == many.oov_capacity == 100 * 1024


def test_what_was_looked_up_is_kept_where_a_search_asks_models(tmp_path):
    asked = GraphSearchConfig(lm_in_search=True, lm_cache_mb=3)
    config = EngineConfig(max_streams=2, threads=1, lm_dir=tmp_path, graph_search=asked)
    assert graph_search_sizes(config).lm_cache_bytes == 3 << 20
    assert graph_search_sizes(CONFIG).lm_cache_bytes == 0
