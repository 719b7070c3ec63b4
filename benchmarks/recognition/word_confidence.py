"""Claim: a lattice's posteriors say how likely a word is right, better than its tokens' scores do.

The development recordings through the bundled model (chunk-masked, which equals streaming) and a
graph search as the service runs it; then confidences of the words that it finds best:

- tokens: what a final without a graph and a second pass says: the geometric mean of the posteriors
  of a word's tokens where they were emitted;
- lattice: posteriors of words (``decoder_kernels/wfst/wfst_confidence.py``) at several scales, and
  times the share of words that a lattice covers. So finals of a graph search have it.

Then the words of finals, which the second pass has chosen, as the engine's streams tell them.

A word is right where the alignment with the transcript of least errors says so. Scale and coverage
are chosen on every other recording, and everything reported is of the rest. Normalised cross
entropy as NIST has it: the share of the surprise about which words are right that confidences take
away.
"""

import argparse
import math
import statistics
import tempfile
import textwrap
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.recognition.confidence_measures import Words
from benchmarks.recognition.told_words import ToldWords, right_words
from benchmarks.report import SHARED, table, write_report
from earshot.decoder_kernels.alignment import align
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.wfst.wfst_confidence import WordConfidences
from earshot.decoder_kernels.wfst.wfst_hypotheses import WfstHypothesis
from earshot.decoder_kernels.wfst.wfst_lattice import WordLattice
from earshot.decoder_kernels.wfst.wfst_search import WfstSearch, WfstSearchConfig
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.search_frames import frames_of
from earshot.streaming.words.fitted_words import words_of
from earshot.streaming.words.graph_words import GraphWords
from earshot.training.corpus.put_aside import is_put_aside
from earshot.training.data.batch import pad
from earshot.training.data.speech import Speech, load_speech
from earshot.training.measuring.greedy import length_batches

SLOT = torch.tensor([0])
TOKENS = "tokens"
SCALES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
COVERAGES = [percent / 100 for percent in range(60, 101, 2)]


@dataclass(frozen=True)
class Heard:
    """A recording: encoder output ``(T, D)`` and log-probabilities ``(T, V)`` of tokens."""

    index: int
    memory: Tensor
    log_probs: Tensor


def heard(loaded: LoadedModel, speech: Speech) -> Iterator[Heard]:
    """Every recording that is long enough for a frame."""
    least = u2_of(loaded).encoder.right_context + 1
    chunk_size = u2_of(loaded).config.decoding.chunk_size
    counts = [speech.frame_count(index) for index in range(len(speech))]
    for batch in length_batches(counts):
        usable = [index for index in batch if counts[index] >= least]
        if not usable:
            continue
        padded = pad([speech.features(index) for index in usable], [[] for _ in usable])
        with torch.inference_mode():
            encoded, lengths = u2_of(loaded).encoder(
                padded.features, padded.feature_lengths, chunk_size, -1
            )
            for index, memory, length in zip(usable, encoded, lengths.tolist(), strict=True):
                log_probs = u2_of(loaded).ctc_log_probs(memory[:length]).float()
                yield Heard(index, memory[:length].clone(), log_probs.clone())


def token_confidences(one: Heard, tokens: Sequence[Sequence[int]], blank_id: int) -> list[float]:
    """Of words by their tokens, as `earshot.streaming.results.results` has them."""
    joined = list(chain.from_iterable(tokens))
    frames = align(one.log_probs, joined, blank_id)
    logs = iter(one.log_probs[frames, joined].tolist())
    means = [statistics.fmean(islice(logs, len(each))) for each in tokens]
    return [min(math.exp(mean), 1.0) for mean in means]


class Trial:
    """A search with one lattice_beam, and what all confidences say of what it found."""

    def __init__(self, loaded: LoadedModel, graph: GraphWords, sizes: GraphSearchConfig) -> None:
        self._loaded, self._graph = loaded, graph
        capacity = sizes.backpointers_per_token * sizes.max_active
        config = WfstSearchConfig(max_tokens=sizes.max_active, backpointer_capacity=capacity)
        self._search = WfstSearch(graph.graph, config, 1)
        self.options = sizes.of(u2_of(loaded).config.decoding).options(GraphOptions())
        self._search.set_options(0, self.options)
        self._frames = frames_of(graph, u2_of(loaded))
        self._words: dict[tuple[str, bool], Words] = defaultdict(Words)
        self.lattice_seconds: list[float] = []
        self.arcs: list[int] = []
        self.narrowed = self.frames = 0

    def take(self, one: Heard, truth: str) -> None:
        """Search a recording and judge its words."""
        self._search.reset(SLOT)
        frames = self._frames.whole(one.memory)
        self._search.advance(SLOT, frames[None].contiguous(), torch.tensor([len(frames)]))
        self.frames += len(frames)
        [listed], lattice = self._search.nbest([0], 1), self._lattice()
        assert listed is not None
        right = right_words(truth, [self._graph.spelled(word).text for word in listed[0].words])
        for way, said in self._ways(one, listed[0], lattice):
            self._words[way, one.index % 2 == 1].take(said, right)

    @property
    def overflows(self) -> int:
        """Frames in which the search ran short of records."""
        return self._search.overflows()

    def words(self, way: str, *, held_out: bool) -> Words:
        """Confidences of a half's words."""
        return self._words[way, held_out]

    def choice(self) -> tuple[float, float]:
        """Scale and coverage, by the recordings that are not held out."""
        gains = {}
        for scale in SCALES:
            words = self.words(lattice_way(scale), held_out=False)
            for coverage in COVERAGES:
                gains[scale, coverage] = words.times(coverage).cross_entropy_gain()
        return max(gains, key=gains.__getitem__)

    def _lattice(self) -> WordLattice:
        began = time.process_time()
        [lattice] = self._search.lattices([0])
        self.lattice_seconds.append(time.process_time() - began)
        assert lattice is not None
        self.arcs.append(lattice.num_arcs)
        self.narrowed += lattice.beam < self.options.lattice_beam
        return lattice

    def _ways(
        self, one: Heard, found: WfstHypothesis, lattice: WordLattice
    ) -> Iterator[tuple[str, Sequence[float]]]:
        if not found.words:
            return
        tokens = [self._graph.spelled(word).tokens for word in found.words]
        yield TOKENS, token_confidences(one, tokens, u2_of(self._loaded).config.blank_id)
        for scale in SCALES:
            sure = WordConfidences.of_lattice(lattice, scale)
            yield lattice_way(scale), sure.of(found.words, found.frames)


def lattice_way(scale: float) -> str:
    """Its name in the tables."""
    return f"lattice, scale {scale:g}"


def arms(trial: Trial) -> list[list[str]]:
    """A line for each way to be sure of a word, last as the engine has it and as chosen here."""
    ways = [TOKENS, *(lattice_way(scale) for scale in SCALES)]
    lines = [[way, *trial.words(way, held_out=True).row()] for way in ways]
    engines = (GraphSearchConfig.posterior_scale, GraphSearchConfig.coverage)
    for scale, coverage in (engines, trial.choice()):
        covered = trial.words(lattice_way(scale), held_out=True).times(coverage)
        lines.append([f"**{lattice_way(scale)}, coverage {coverage:g}**", *covered.row()])
    return lines


def reliability(words: Words) -> list[list[str]]:
    """By tenths of confidence: words, mean confidence, share that is right."""
    return [
        [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}", str(count), share(said), share(so)]
        for tenth, (count, said, so) in enumerate(words.bins())
    ]


def share(value: float) -> str:
    """A number for a table; nothing for that of no words."""
    return "" if math.isnan(value) else f"{value:.2f}"


def main() -> None:
    """Run it and write docs/benchmarks/word_confidence.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graph", type=Path, default=bundled_model_dir() / "lm.graph.xz")
    parser.add_argument("--lm", default="the bundled one", help="what it is, for the page")
    parser.add_argument("--lattice-beam", type=float, default=GraphSearchConfig.lattice_beam)
    parser.add_argument(
        "--backpointers-per-token", type=int, default=GraphSearchConfig.backpointers_per_token
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load_model(bundled_model_dir())
    graph = words_of(read_graph(arguments.graph), loaded)
    sizes = GraphSearchConfig(
        lattice_beam=arguments.lattice_beam, backpointers_per_token=arguments.backpointers_per_token
    )
    trial, told = Trial(loaded, graph, sizes), ToldWords(arguments.graph, sizes)
    with tempfile.TemporaryDirectory() as cache:
        features = u2_of(loaded).config.features
        everything = load_speech(SHARED / "speech" / "dev.tsv", Path(cache), features=features)
        speech = everything.select(
            [i for i, each in enumerate(everything.utterances) if not is_put_aside(each)]
        )
        for one in heard(loaded, speech):
            said = speech.utterances[one.index]
            trial.take(one, said.text)
            if one.index % 2 == 1:  # held out
                told.take(said.path, said.corpus, said.text)
    print(body := report(trial, told, arguments.lm))
    print(write_report("word_confidence", "Confidence of words", body))


def report(trial: Trial, told: ToldWords, lm: str) -> str:
    """The page."""
    options = trial.options
    measures = ["words", "% right", "cross entropy", "calibration error", "ranking"]
    times = 1000 * np.array(trial.lattice_seconds)
    given_up = told.close()
    corpora = [[name, *words.row()] for name, words in sorted(told.of_corpus.items())]
    about = f"""
Development recordings with a transcript, but for those put aside: every other one is reported,
the rest chose scale and coverage. Language model: {lm}, at a weight of
{options.graph_scale:g}. Beam {options.beam:g},
max_active {options.max_active}, lattice_beam {options.lattice_beam:g}. A lattice has
{np.median(trial.arcs):.0f} arcs (median; {max(trial.arcs)} at most) and takes
{np.median(times):.2f} ms of CPU ({np.percentile(times, 95):.2f} for 95 %, {times.max():.1f} at
most); {trial.narrowed} of {len(times)} were narrowed. The search ran short of records in
{trial.overflows} frames of {trial.frames}."""
    return f"""\
{textwrap.fill(about.strip().replace(chr(10), " "), 130)}

Cross entropy: normalised; 1 is perfect, 0 as good as one number for all words, and below that worse
than saying nothing. Calibration error: how far what is said lies from what is so, on average.
Ranking: how often a right word has more confidence than a wrong one; a half is chance.

## Words of the first pass

{table(["confidence", *measures], arms(trial))}

## Words of finals

The same recordings through the engine's streams, with the engine's scale and coverage:
{told.finals} finals, of which {given_up} have no lattice. They end at pauses, not with recordings.

{table(["corpus", *measures], [["**all**", *told.all.row()], *corpora])}

What is said of them, and what is so:

{table(["confidence", "words", "said", "so"], reliability(told.all))}
"""


if __name__ == "__main__":
    main()
