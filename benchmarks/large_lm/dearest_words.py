"""Claim: what costs most is names and rare words, which a larger model of like text leaves dear.

The transcripts of development recordings, word by word, by the model of the bundled graph and by a
large one: perplexity of what both know, ends of sentences included, and the words that cost most.
`dear`: the share of all nats that the dearest twentieth of the words has.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.report import SHARED, below_claim, show_report, table
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, SENTENCE_END, SENTENCE_START, LmImage
from earshot.models.bundled import bundled_model_dir
from earshot.training.corpus.put_aside import read_dev_speech

CORPORA = ("coffee", "librispeech", "speechocean")
DEAREST = 20
DEAR_SHARE = 0.05
HEADER = ("corpus", "words", "unknown to either", "the graph's: perplexity", "dear, %",
          "large: perplexity", "dear, %")  # fmt: skip
WORDS_HEADER = ("word", "times", "the graph's: nats each", "large: nats each")


def costs(image: LmImage, text: Sequence[str]) -> list[float | None]:
    """Nats of each word and of the sentence's end; None for a word that the model lacks."""
    start, *words = image.find_words([SENTENCE_START, *text, SENTENCE_END]).tolist()
    state, found = image.state_after([start]), []
    for word in words:
        cost, state = image.find(state, word)
        found.append(None if word == NO_WORD else cost / COST_STEPS)
    return found


class Compared:
    """Words of some texts by two models: those that both know, with the nats of each."""

    def __init__(self, models: Sequence[LmImage], texts: Sequence[str]) -> None:
        told = [self._of(models, text.split()) for text in texts]
        words = [pair for sentence in told for pair in sentence]
        self.known = [(word, *nats) for word, nats in words if None not in nats]
        self.unknown = len(words) - len(self.known)

    def _of(
        self, models: Sequence[LmImage], text: Sequence[str]
    ) -> Iterator[tuple[str, tuple[float | None, ...]]]:
        columns = [costs(image, text) for image in models]
        yield from zip([*text, SENTENCE_END], zip(*columns, strict=True), strict=True)

    def line(self, name: str) -> list[str]:
        """A row of the table."""
        cells = [name, f"{len(self.known) + self.unknown:,}", f"{self.unknown:,}"]
        for column in (1, 2):
            nats = np.sort([each[column] for each in self.known])[::-1]
            dear = nats[: round(DEAR_SHARE * len(nats))].sum() / nats.sum()
            cells += [f"{math.exp(nats.mean()):.0f}", f"{100 * dear:.1f}"]
        return cells

    def dearest(self) -> list[list[str]]:
        """The words that cost the large model most in all."""
        by_word = defaultdict(list)
        for word, *nats in self.known:
            by_word[word].append(nats)
        ranked = sorted(by_word.items(), key=lambda each: -sum(nats[1] for nats in each[1]))
        rare = [each for each in ranked if np.mean([nats[1] for nats in each[1]]) > 10.0]
        return [
            [word, f"{len(nats)}", *(f"{mean:.1f}" for mean in np.mean(nats, axis=0))]
            for word, nats in rare[:DEAREST]
        ]


def main() -> None:
    """Run it and print, or write, the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lm", type=Path, help="an image")
    parser.add_argument("--write", action="store_true", help="the page")
    asked = parser.parse_args()
    small = read_graph(bundled_model_dir() / "lm.graph.xz").small_lm
    assert small is not None
    models = (small, LmImage(asked.lm))
    speech = [each for each in read_dev_speech(SHARED / "speech" / "dev.tsv") if each.text]
    by_corpus = {
        name: Compared(models, [each.text for each in speech if each.corpus == name])
        for name in CORPORA
    }
    lines = [compared.line(name) for name, compared in by_corpus.items()]
    books = by_corpus["librispeech"].dearest()
    ngrams = f"{small.header.num_ngrams:,} and {models[1].header.num_ngrams:,} n-grams"
    body = (
        f"{below_claim(__doc__)}\n\n{ngrams}.\n\n{table(HEADER, lines)}\n\n"
        f"The dearest words of read books, of 10 nats and more, by what all of each cost the large "
        f"model:\n\n{table(WORDS_HEADER, books)}\n"
    )
    show_report("dearest_words", "The dearest words", body, is_written=asked.write)


if __name__ == "__main__":
    main()
