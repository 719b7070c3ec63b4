"""The searches over a CTC head, whatever network it is part of."""

from types import SimpleNamespace

import pytest
import torch

from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.results.search_counts import SearchCounts
from earshot.streaming.search.ctc_searches import build_searches, graph_search_sizes
from earshot.streaming.stream.segment import Segment
from earshot.streaming.words.graph_words import GraphWords

CONFIG = EngineConfig(max_streams=2, threads=1)


class Head:
    """A CTC head without a network: encoder frames are log-probabilities already."""

    phone_rate = 1

    def __init__(self, blank_id: int) -> None:
        self.blank_id = blank_id

    def ctc_log_probs(self, encoded: torch.Tensor) -> torch.Tensor:
        return encoded


def searches(tokenizer, words=None, blank_id=0):
    return build_searches(
        Head(blank_id),
        tokenizer,
        words,
        CONFIG,
        vocab_size=tokenizer.vocab_size,
        max_segment_frames=100,
        device=torch.device("cpu"),
    )


def heard(search, vocab_size: int, tokens, blank_id: int = 0) -> tuple[int, ...]:
    """What a search finds where each of the tokens is all but certain, with a blank between."""
    frames = [each for token in tokens for each in (token, blank_id)]
    encoded = torch.nn.functional.one_hot(torch.tensor(frames), vocab_size) * 20.0
    boosts = SimpleNamespace(covered=lambda tokens: [], read_out=lambda tokens: [])
    segment = Segment(0, detector=None)
    stream = SimpleNamespace(slot=1, segment=segment, boosts=boosts, search_counts=SearchCounts())
    search.rewind(stream, encoded.log_softmax(-1))
    [best] = search.best([stream])
    return best.hypothesis.tokens


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


def test_boosts_of_few_streams_have_room_as_of_many():
    assert graph_search_sizes(CONFIG).boost_capacity == 64 * 1024
    many = graph_search_sizes(EngineConfig(max_streams=100, threads=1))
    assert many.boost_capacity == many.oov_capacity == 100 * 1024
