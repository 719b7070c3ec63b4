"""What ships hears people as its card says: streams of a sample, with the bundled graph."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.recognition.served_wer import ARMS, DEFAULT, Heard, Served
from benchmarks.wfst.bundled import recordings
from earshot.models.bundled import bundled_model_dir

SAMPLE = 16  # recordings of each corpus
CHUNK_FRAMES = 16
MOST_PERCENT = {"coffee": 8, "fsdd": 6, "librispeech": 14, "speechocean": 34, "wakewords": 3}
"""Half as much again as all recordings have, and room for the luck of a sample."""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with closing(Served(bundled_model_dir(), CHUNK_FRAMES)) as served:
        yield served


def test_a_few_sentences_of_books_are_heard(served: Served, clips_manifest: Path) -> None:
    chosen = recordings(clips_manifest, per_corpus=None, seed=1)
    heard = served.hear(chosen, ARMS[DEFAULT])
    assert sum(heard.errors().said) > 50
    assert heard.errors().percent <= MOST_PERCENT["librispeech"]


@pytest.fixture(scope="module")
def heard(speech_dir: Path, served: Served) -> Heard:
    return served.hear(recordings(speech_dir / "dev.tsv", SAMPLE, seed=1), ARMS[DEFAULT])


@pytest.mark.parametrize("corpus", MOST_PERCENT)
def test_streams_with_the_graph_are_heard_as_the_card_says(heard: Heard, corpus: str) -> None:
    assert heard.of(corpus).errors().percent <= MOST_PERCENT[corpus]
