"""What is told of a language model that clients may name."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.streaming.language_models.lm_description import GraphTexts
from tests.streaming.language_models.tiny_lms import write_lm


class Texts(Sequence):
    """A graph's words; it counts how often all of them are read."""

    def __init__(self, words: list[str]) -> None:
        self.words, self.read = words, 0

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, place):
        self.read += 1
        return self.words[place]


def words_of(*texts: str) -> tuple[GraphTexts, Texts]:
    read = Texts(["<eps>", *texts])
    return GraphTexts(SimpleNamespace(word_texts=read)), read


@pytest.mark.parametrize("count", [1, 500])
def test_words_that_a_model_lacks_are_counted_whichever_vocabulary_is_smaller(
    tmp_path: Path, count: int
) -> None:
    image = LmImage(write_lm(tmp_path / "a.lm", {"<s>": 64.0, "</s>": 0.5, "一": 1.0, "三": 2.0}))
    words, _ = words_of("三", *(f"w{place}" for place in range(count)))
    assert words.missing_in(image) == count


def test_a_graphs_words_are_read_once_for_all_models(tmp_path: Path) -> None:
    image = LmImage(write_lm(tmp_path / "a.lm", {"<s>": 64.0, "</s>": 0.5, "一": 1.0}))
    words, read = words_of("一", "二")
    assert [words.missing_in(image) for _ in range(5)] == [1] * 5
    assert read.read == 1
