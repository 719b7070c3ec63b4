"""Trees scored natively are trees scored by torch, on every processor and in any company."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import make_tiny_model

from earshot.models.native.trees import NativeTrees
from earshot.models.native.weights import processors
from earshot.models.neural_lm.network import NeuralLm, NeuralLmConfig
from earshot.models.neural_lm.sentence_trees import sentence_trees, torch_sentence_trees
from earshot.models.token_tree import TokenTree
from earshot.models.torch_trees import TorchTrees
from earshot.models.tree_scorer import NodeScores, TreeScorer
from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.decoder_trees import decoder_trees, torch_decoder_trees

END = 1
SEQUENCES = st.lists(st.lists(st.integers(2, 9), max_size=9), max_size=6)
LENGTHS = [1, 23, 16, 40]


@pytest.fixture(scope="module")
def decoder() -> TransformerDecoder:
    return make_tiny_model().left_decoder


@pytest.fixture(scope="module")
def network() -> NeuralLm:
    torch.manual_seed(3)
    return NeuralLm(NeuralLmConfig(vocab_size=11, size=36, heads=3, blocks=2, feed_forward=50))


@pytest.fixture(scope="module")
def memory() -> torch.Tensor:
    """(4, 40, 16), of which `LENGTHS` are real; the rest must not matter."""
    torch.manual_seed(4)
    memory = torch.randn(len(LENGTHS), max(LENGTHS), 16)
    for row, length in zip(memory, LENGTHS, strict=True):
        row[length:] = 1e6
    return memory


@pytest.fixture(params=processors())
def on_processor(request, monkeypatch) -> None:
    """Native networks are built for this one."""
    for trees in ("u2.decoder_trees", "neural_lm.sentence_trees"):
        monkeypatch.setattr(f"earshot.models.{trees}.processors", lambda: [request.param])


@pytest.fixture
def workers() -> Callable[[int], None]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def trees_of(lists: list[list[list[int]]]) -> list[TokenTree]:
    return [TokenTree.of(sequences, END) for sequences in lists]


def assert_same(found: list[NodeScores], expected: list[NodeScores]) -> None:
    for ours, oracle in zip(found, expected, strict=True):
        assert ours.nodes[1:] == pytest.approx(oracle.nodes[1:], abs=2e-5)
        assert ours.ends == pytest.approx(oracle.ends, abs=2e-5)


def listening(scorer: TreeScorer, memory: torch.Tensor, trees: list[TokenTree]) -> list[NodeScores]:
    streams = len(trees)
    return scorer(trees, END, memory[:streams], torch.tensor(LENGTHS[:streams]))


def test_hypotheses_get_the_scores_that_the_decoder_gives_them(on_processor, decoder, memory):
    scorer = decoder_trees(decoder)
    assert isinstance(scorer, NativeTrees)

    @given(st.lists(SEQUENCES, min_size=1, max_size=len(LENGTHS)))
    @settings(max_examples=40)
    def check(lists):
        trees = trees_of(lists)
        expected = listening(torch_decoder_trees(decoder), memory, trees)
        assert_same(listening(scorer, memory, trees), expected)

    check()


def test_sentences_get_the_scores_that_the_language_model_gives_them(on_processor, network):
    scorer = sentence_trees(network)
    assert isinstance(scorer, NativeTrees)

    @given(st.lists(SEQUENCES, min_size=1, max_size=5))
    @settings(max_examples=40)
    def check(lists):
        trees = trees_of(lists)
        assert_same(scorer(trees, END), torch_sentence_trees(network)(trees, END))

    check()


def test_a_tree_has_the_same_bits_alone_in_company_and_on_several_threads(
    on_processor, decoder, memory, workers
):
    lists = [[[2, 3, 4], [2, 3, 5, 6]], [[7]], [[]], [[2] * 30, [2] * 29 + [3], [4, 4]]]
    scorer, trees = decoder_trees(decoder), trees_of(lists)
    together = listening(scorer, memory, trees)
    workers(3)
    assert [each.ends for each in listening(scorer, memory, trees)] == [t.ends for t in together]
    workers(1)
    for row, tree in enumerate(trees):
        [alone] = scorer([tree], END, memory[row : row + 1], torch.tensor(LENGTHS[row : row + 1]))
        assert alone.ends == together[row].ends
        assert alone.nodes[1:] == together[row].nodes[1:]


def test_what_is_not_finite_in_one_memory_stays_in_its_tree(decoder, memory):
    trees = trees_of([[[2, 3]], [[2, 3]]])
    sound = listening(decoder_trees(decoder), memory, trees)
    memory = memory.clone()
    memory[0, 0, 3] = torch.nan
    spoiled = listening(decoder_trees(decoder), memory, trees)
    assert all(end != end for end in spoiled[0].ends)
    assert spoiled[1].ends == sound[1].ends


def test_memory_of_another_width_is_refused(decoder, memory):
    with pytest.raises(ValueError, match="8 numbers a frame where the network has 16"):
        listening(decoder_trees(decoder), memory[..., :8], trees_of([[[2, 3]], [[2]]]))


def test_weights_of_half_precision_stay_with_torch(decoder, network):
    assert isinstance(sentence_trees(network.half()), TorchTrees)
    network.float()
    assert isinstance(decoder_trees(make_tiny_model().half().left_decoder), TorchTrees)


def test_a_processor_that_is_not_here_is_refused(network, monkeypatch):
    monkeypatch.setattr("earshot.models.neural_lm.sentence_trees.processors", lambda: ["abacus"])
    with pytest.raises(ValueError, match="abacus"):
        sentence_trees(network)
