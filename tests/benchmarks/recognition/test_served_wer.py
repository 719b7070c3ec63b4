"""What ships hears people as its card says: streams of a sample, with the bundled graph."""

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.recognition.served_wer import ARMS, DEFAULT, Heard, Served
from benchmarks.wfst.bundled import recordings
from earshot.models.bundled import bundled_model_dir

SAMPLE = 16  # recordings of each corpus
CHUNK_FRAMES = 11
MOST_PERCENT = {"coffee": 10, "fsdd": 10, "librispeech": 32, "speechocean": 45, "wakewords": 5}
"""Half as much again as all recordings have, and room for the luck of a sample."""


@pytest.fixture(scope="module")
def heard(speech_dir: Path) -> Heard:
    chosen = recordings(speech_dir / "dev.tsv", SAMPLE, seed=1)
    with closing(Served(bundled_model_dir(), CHUNK_FRAMES)) as served:
        return served.hear(chosen, ARMS[DEFAULT])


@pytest.mark.parametrize("corpus", MOST_PERCENT)
def test_streams_with_the_graph_are_heard_as_the_card_says(heard: Heard, corpus: str) -> None:
    assert heard.of(corpus).errors().percent <= MOST_PERCENT[corpus]
