import pytest

from benchmarks.latency.chunk_latency import Rescoring, bundled_chunking, waiting_ms
from earshot.streaming.stream.chunking import Chunking


@pytest.mark.parametrize(("chunk_frames", "paper_ms"), [(16, 380), (8, 220), (4, 140)])
def test_the_papers_chunks_wait_as_long_as_it_says(chunk_frames: int, paper_ms: float) -> None:
    papers = Chunking(chunk_frames, rate=4, right_context=6, feature_ms=10.0)
    assert waiting_ms(papers) == paper_ms


def test_the_bundled_model_waits_for_half_a_chunk_and_its_stem() -> None:
    chunking = bundled_chunking(16)
    assert waiting_ms(chunking) == 320 + 10 * chunking.right_context


def test_rescoring_is_told_by_ending() -> None:
    assert Rescoring(12, 1.5).ms_since(Rescoring(2, 1.0)) == 50.0
