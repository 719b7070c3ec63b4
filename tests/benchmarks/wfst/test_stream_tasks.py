import torch

from benchmarks.wfst.ours_streams import OurStreams
from benchmarks.wfst.posteriors import simulated
from benchmarks.wfst.stream_tasks import HEADER, Task, same_words
from benchmarks.wfst.streams import NotRun, Timing
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

CPU = torch.device("cpu")
OPTIONS = WfstOptions(max_active=100)


def task(graph: Graph, chunk_frames: int | None) -> Task:
    utterances = simulated(graph, 2, words=6, seed=1)
    return Task("simulated", utterances, 3, 8, chunk_frames, rounds=2, floor_us=0.5, frame_ms=40.0)


def test_streams_take_the_utterances_in_turn_and_all_pieces_are_timed(graph: Graph) -> None:
    timing = task(graph, 3).run(lambda n, device: OurStreams(graph, OPTIONS, n, device), CPU)
    assert len(timing.seconds) == 2 * 3
    assert timing.frames == 2 * 3 * 8
    assert timing.words[0] == timing.words[2]
    assert len(timing.words) == 3


def test_pieces_of_any_size_give_the_same_words(graph: Graph) -> None:
    chunked, whole = (
        task(graph, size).run(lambda n, device: OurStreams(graph, OPTIONS, n, device), CPU)
        for size in (2, None)
    )
    assert chunked.words == whole.words


def test_times_are_of_one_frame_of_one_stream_and_of_a_piece_of_all() -> None:
    timing = Timing(seconds=[0.001, 0.003], frames=400, words=[])
    assert timing.us_per_frame() == 10.0
    assert timing.us_per_chunk(50) == 2000.0


def test_the_table_compares_with_the_peer_and_says_why_one_was_not_run(graph: Graph) -> None:
    found = {
        "ours": Timing([0.001], 1000, [(1, 2), (1,)]),
        "riva": Timing([0.005], 1000, [(1, 2), (2,)]),
        "other": NotRun("needs a |\n GPU"),
    }
    ours, riva, other = task(graph, None).rows(found, "ours", "riva")
    assert {len(row) for row in (ours, riva, other)} == {len(HEADER)}
    assert ours[3:] == ["ours", "40,000", "1.00", "1,000", "1,000", "5.00", "50 %", "2 of 2"]
    assert riva[-3:] == ["1.00", "10 %", "1 of 2"]
    assert other[4] == "not run: needs a / GPU"


def test_a_decoder_without_words_is_not_compared() -> None:
    assert same_words([], [(1,)]) == ""
