import pytest
import torch

from benchmarks.wfst.load import Load, token_nodes
from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.posteriors import simulated
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

OPTIONS = WfstOptions(max_active=100)


def test_chunks_hold_every_frame_of_streams_of_unlike_length() -> None:
    batch = Batch.of([torch.arange(10.0).reshape(5, 2), torch.ones(2, 2)])
    chunks = batch.chunks(2)
    assert [chunk.lengths.tolist() for chunk in chunks] == [[2, 2], [2, 0], [1, 0]]
    assert torch.equal(torch.cat([chunk.log_probs for chunk in chunks], dim=1), batch.log_probs)
    assert sum(chunk.frames for chunk in chunks) == batch.frames == 7


def test_whole_utterances_are_one_chunk() -> None:
    batch = Batch.of([torch.zeros(3, 2)])
    assert batch.chunks(None) == [batch]


@pytest.mark.parametrize("frames", [1, 3, None])
def test_our_search_finds_what_was_said_in_chunks_of_any_size(
    graph: Graph, frames: int | None
) -> None:
    utterances = simulated(graph, 3, words=3, seed=1)
    ours = OurSearch(graph, OPTIONS, streams=3)
    ours.start()
    for chunk in Batch.of([torch.from_numpy(each.log_probs) for each in utterances]).chunks(frames):
        ours.advance(chunk)
    texts = [
        " ".join(graph.word_texts[word] for word in best.words) for best in ours.best(finalize=True)
    ]
    assert texts == [each.text for each in utterances]
    assert ours.overflows() == 0


def test_tokens_lie_at_nodes_of_the_graph(graph: Graph) -> None:
    ours = OurSearch(graph, OPTIONS)
    ours.start()
    [utterance] = simulated(graph, 1, words=2, seed=1)
    ours.advance(Batch.of([torch.from_numpy(utterance.log_probs)]))
    nodes = token_nodes(ours)
    assert len(nodes) == ours.tokens() > 0
    assert set(nodes.tolist()) <= {0, 1, 2}


def test_load_counts_arcs_by_token_and_sectors_by_node(graph: Graph) -> None:
    nodes = torch.tensor([0, 0, 1]).numpy()
    # Two nodes and their labels, and an arc for each token, in sectors of 32 bytes; tokens twice.
    assert Load.of_nodes(graph, nodes) == Load(3, 5, 32 * (2 + 2 + 3) + 2 * 20 * 3)
