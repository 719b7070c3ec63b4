"""What phrases that are begun and not completed must not do: push out what is said instead."""

import pytest
import torch
from emulator import built
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from earshot.decoder_kernels.boosting.word_boost import WordBoostTable, WordPhrase
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig

BEAM = 12.0
WORDS = 10  # each of one unit, and as likely after any other


def any_words(cost: float) -> Graph:
    """A graph of all sequences of words, each at `cost` nats."""
    return Graph.from_arcs(
        [Arc(0, word + 1, word, cost, 0) for word in range(1, WORDS + 1)],
        {0: 0.0},
        1,
        topology="compact",
        vocab_size=WORDS + 1,
        word_texts=["<eps>", *map(str, range(1, WORDS + 1))],
        loop_node=0,
    )


def spoken(words: tuple[int, ...], clarity: float) -> torch.Tensor:
    """Log-probabilities (1, 2 n, V) of words with a blank after each, all else `clarity` behind."""
    log_probs = torch.full((1, 2 * len(words), WORDS + 1), -clarity)
    log_probs[0, 1::2, 0] = 0.0
    log_probs[0, range(0, 2 * len(words), 2), list(words)] = 0.0
    return log_probs


def heard(
    graph: Graph, log_probs: torch.Tensor, phrase: WordPhrase | None, device: torch.device
) -> tuple[int, ...]:
    """The best words at `BEAM` where the phrase is boosted."""
    search = WfstSearch(graph, WfstSearchConfig(max_tokens=1000), 1, device)
    search.set_options(0, WfstOptions(beam=BEAM, max_active=1000))
    if phrase is not None:
        search.set_boost(0, WordBoostTable.compile([phrase], graph, beam=BEAM))
    search.advance(torch.tensor([0]), log_probs.to(device), torch.tensor([log_probs.size(1)]))
    return search.best(torch.tensor([0]), finalize=True)[0].hypothesis.words


@pytest.mark.parametrize("weight", [-1.0, -6.0, -20.0])
def test_what_begins_like_a_disfavoured_phrase_stays_in_the_beam(
    weight: float, device: torch.device
) -> None:
    graph, said = any_words(1.0), (1, 2, 3, 5)
    disfavoured = WordPhrase((1, 2, 3, 4), weight)
    assert heard(graph, spoken(said, clarity=6.0), disfavoured, device) == said


@settings(
    deadline=None,
    max_examples=30 if built() is None else 8,  # it is slow on the emulated device
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    length=st.integers(3, 8),
    weight=st.sampled_from([1.0, 3.0, 20.0]),
    behind=st.floats(0.5, BEAM / 2 - 0.5),
)
def test_a_phrase_that_is_not_completed_leaves_what_is_said_in_the_beam(
    length: int, weight: float, behind: float, device: torch.device
) -> None:
    graph, phrase = any_words(12.0), tuple(range(1, length + 1))
    said = (9, *phrase[1:-1], 10)
    log_probs = spoken(said, clarity=60.0)
    log_probs[0, 0, phrase[0]] = -behind
    assert heard(graph, log_probs, None, device) == said
    assert heard(graph, log_probs, WordPhrase(phrase, weight), device) == said


def test_a_phrase_that_is_completed_is_heard_for_all_that(device: torch.device) -> None:
    graph, phrase = any_words(12.0), tuple(range(1, 8))
    log_probs = spoken((9, *phrase[1:]), clarity=60.0)
    log_probs[0, 0, phrase[0]] = -BEAM / 2 - 1.0
    assert heard(graph, log_probs, None, device) == (9, *phrase[1:])
    assert heard(graph, log_probs, WordPhrase(phrase, 3.0), device) == phrase
