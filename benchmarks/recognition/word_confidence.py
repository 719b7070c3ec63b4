"""Claim: a lattice's posteriors say how likely a word is right, better than its tokens' scores do.

The development recordings through the bundled model (chunk-masked, which equals streaming) and a
graph search as the service runs it; then confidences of the words that the first pass finds best,
and of those that the second pass chooses from the list:

- tokens, CTC: what a final without a graph and a second pass says: the geometric mean of the
  posteriors of a word's tokens where they were emitted;
- tokens, attention: what a final without a graph says: likewise of the attention decoders'
  probabilities;
- lattice: posteriors of words (``decoder_kernels/wfst/wfst_confidence.py``) at several scales, and
  times the share of words that a lattice covers. So finals of a graph search have it: their words,
  as the engine's streams tell them, are judged beside the others.

A word is right where the alignment with the transcript of least errors says so. Scale and coverage
are chosen on every other recording, and everything reported is of the rest. Normalised cross
entropy as NIST has it: the share of the surprise about which words are right that confidences take
away.
"""

import argparse
import math
import tempfile
import textwrap
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
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
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.u2.rescoring import AttentionScores, attention_scores
from earshot.streaming.graph_config import GraphOptions, GraphSearchConfig
from earshot.streaming.search.search_frames import frames_of
from earshot.streaming.words.fitted_words import words_of
from earshot.streaming.words.graph_words import GraphWords
from earshot.training.data.batch import pad
from earshot.training.data.speech import Speech, load_speech
from earshot.training.measuring.greedy import length_batches

SLOT = torch.tensor([0])
LIST_SIZE = 10
FIRST, SECOND = "first pass", "second pass"
CTC, ATTENTION = "tokens, CTC", "tokens, attention"
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
    least = loaded.model.encoder.right_context + 1
    chunk_size = loaded.model.config.decoding.chunk_size
    counts = [speech.frame_count(index) for index in range(len(speech))]
    for batch in length_batches(counts):
        usable = [index for index in batch if counts[index] >= least]
        if not usable:
            continue
        padded = pad([speech.features(index) for index in usable], [[] for _ in usable])
        with torch.inference_mode():
            encoded, lengths = loaded.model.encoder(
                padded.features, padded.feature_lengths, chunk_size, -1
            )
            for index, memory, length in zip(usable, encoded, lengths.tolist(), strict=True):
                log_probs = loaded.model.ctc_log_probs(memory[:length]).float()
                yield Heard(index, memory[:length].clone(), log_probs.clone())


class Confidences:
    """The ways to be sure of a hypothesis' words."""

    def __init__(self, loaded: LoadedModel, words: GraphWords) -> None:
        self._loaded, self._words = loaded, words

    def tokens(self, hypothesis: WfstHypothesis) -> list[list[int]]:
        """Of each word."""
        return [list(self._words.spelled(word).tokens) for word in hypothesis.words]

    def ctc(self, one: Heard, hypothesis: WfstHypothesis) -> list[float]:
        """As `earshot.streaming.results.results` has them without a second pass."""
        tokens = list(chain.from_iterable(self.tokens(hypothesis)))
        frames = align(one.log_probs, tokens, self._loaded.model.config.blank_id)
        return self._means(hypothesis, one.log_probs[frames, tokens].exp().tolist())

    def attention(
        self, hypothesis: WfstHypothesis, scores: AttentionScores, row: int
    ) -> list[float]:
        """As `earshot.streaming.u2.second_pass` has them."""
        reverse = self._loaded.model.config.decoding.reverse_weight
        left, right = scores.left_token_log_probs[row], scores.right_token_log_probs
        probabilities = [(1 - reverse) * math.exp(p) for p in left]
        if right is not None:
            probabilities = [
                p + reverse * math.exp(q) for p, q in zip(probabilities, right[row], strict=True)
            ]
        return self._means(hypothesis, probabilities)

    def score(self, hypothesis: WfstHypothesis, scores: AttentionScores, row: int) -> float:
        """What the second pass ranks by."""
        weights = self._loaded.model.config.decoding
        attention = (1 - weights.reverse_weight) * scores.left[row]
        attention += weights.reverse_weight * scores.right[row]
        return attention - weights.ctc_weight * hypothesis.cost

    def _means(self, hypothesis: WfstHypothesis, values: Sequence[float]) -> list[float]:
        """Geometric ones, over each word's tokens."""
        means, first = [], 0
        for tokens in self.tokens(hypothesis):
            logs = [math.log(max(v, 1e-30)) for v in values[first : first + len(tokens)]]
            means.append(min(math.exp(sum(logs) / len(logs)), 1.0))
            first += len(tokens)
        return means


class Trial:
    """A search with one lattice_beam, and what all confidences say of what it found."""

    def __init__(self, loaded: LoadedModel, graph: GraphWords, sizes: GraphSearchConfig) -> None:
        self._loaded, self._graph = loaded, graph
        capacity = sizes.backpointers_per_token * sizes.max_active
        config = WfstSearchConfig(max_tokens=sizes.max_active, backpointer_capacity=capacity)
        self._search = WfstSearch(graph.graph, config, 1)
        self.options = sizes.of(loaded.model.config.decoding).options(GraphOptions())
        self._search.set_options(0, self.options)
        self._frames = frames_of(graph, loaded.model)
        self._confidences = Confidences(loaded, graph)
        self._words: dict[tuple[str, str, str, bool], Words] = defaultdict(Words)
        self.lattice_seconds: list[float] = []
        self.arcs: list[int] = []
        self.narrowed = self.frames = 0

    def take(self, one: Heard, corpus: str, truth: str) -> None:
        """Search a recording and judge its words."""
        self._search.reset(SLOT)
        frames = self._frames.whole(one.memory)
        self._search.advance(SLOT, frames[None].contiguous(), torch.tensor([len(frames)]))
        self.frames += len(frames)
        [listed], lattice = self._search.nbest([0], LIST_SIZE), self._lattice()
        assert listed is not None
        scores = self._attention(one, listed)
        ranks = [self._confidences.score(each, scores, row) for row, each in enumerate(listed)]
        for name, row in ((FIRST, 0), (SECOND, ranks.index(max(ranks)))):
            words = [self._graph.spelled(word).text for word in listed[row].words]
            right = right_words(truth, words)
            for way, said in self._ways(one, listed[row], lattice, scores, row):
                self._words[name, way, corpus, one.index % 2 == 1].take(said, right)

    @property
    def overflows(self) -> int:
        """Frames in which the search ran short of records."""
        return self._search.overflows()

    def joined(self, name: str, way: str, *, held_out: bool, corpus: str | None = None) -> Words:
        """Confidences of a pass's words, over all corpora or of one."""
        joined = Words()
        for (each, other, where, out), words in self._words.items():
            if (each, other, out) == (name, way, held_out) and corpus in (None, where):
                joined.take(words.confidences.tolist(), words.right.tolist())
        return joined

    def choice(self, name: str) -> tuple[float, float]:
        """Scale and coverage, by the recordings that are not held out."""
        gains = {}
        for scale in SCALES:
            words = self.joined(name, lattice_way(scale), held_out=False)
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

    def _attention(self, one: Heard, listed: Sequence[WfstHypothesis]) -> AttentionScores:
        tokens = [list(chain.from_iterable(self._confidences.tokens(each))) for each in listed]
        lengths = torch.tensor([len(one.memory)])
        owner = [0] * len(listed)
        return attention_scores(self._loaded.model, one.memory[None], lengths, tokens, owner)

    def _ways(
        self,
        one: Heard,
        found: WfstHypothesis,
        lattice: WordLattice,
        scores: AttentionScores,
        row: int,
    ) -> Iterator[tuple[str, Sequence[float]]]:
        if not found.words:
            return
        yield CTC, self._confidences.ctc(one, found)
        yield ATTENTION, self._confidences.attention(found, scores, row)
        for scale in SCALES:
            sure = WordConfidences.of_lattice(lattice, scale)
            yield lattice_way(scale), sure.of(found.words, found.frames)


def lattice_way(scale: float) -> str:
    """Its name in the tables."""
    return f"lattice, scale {scale:g}"


def arms(trial: Trial, name: str) -> list[list[str]]:
    """A line for each way to be sure of a pass's words."""
    ways = [CTC, ATTENTION, *(lattice_way(scale) for scale in SCALES)]
    lines = [[way, *trial.joined(name, way, held_out=True).row()] for way in ways]
    scale, coverage = trial.choice(name)
    covered = trial.joined(name, lattice_way(scale), held_out=True).times(coverage)
    return [*lines, [f"**{lattice_way(scale)}, coverage {coverage:g}**", *covered.row()]]


def pair(trial: Trial, corpus: str | None = None) -> list[Words]:
    """The second pass's words: what its tokens say of them, and what the lattice says."""
    scale, coverage = trial.choice(SECOND)
    lattice = trial.joined(SECOND, lattice_way(scale), held_out=True, corpus=corpus)
    return [
        trial.joined(SECOND, ATTENTION, held_out=True, corpus=corpus),
        lattice.times(coverage),
    ]


def by_corpus(trial: Trial, corpora: Sequence[str]) -> list[list[str]]:
    """Normalised cross entropy and ranking."""
    lines = []
    for corpus in corpora:
        both = pair(trial, corpus)
        measures = [f"{m:.3f}" for w in both for m in (w.cross_entropy_gain(), w.ranking())]
        lines.append([corpus, *both[0].row()[:2], *measures])
    return lines


def reliability(trial: Trial) -> list[list[str]]:
    """By tenths of confidence: words, mean confidence, share that is right."""
    return [
        [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"]
        + [part for n, said, so in both for part in (str(n), share(said), share(so))]
        for tenth, both in enumerate(zip(*(w.bins() for w in pair(trial)), strict=True))
    ]


def share(value: float) -> str:
    """A number for a table; nothing for that of no words."""
    return "" if math.isnan(value) else f"{value:.2f}"


def main() -> None:
    """Run it and write docs/benchmarks/word_confidence.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path, help="built with --topology compact or normal")
    parser.add_argument("--lm", required=True, help="what the language model is, for the page")
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
        speech = load_speech(SHARED / "speech" / "dev.tsv", Path(cache)).transcribed()
        for one in heard(loaded, speech):
            said = speech.utterances[one.index]
            trial.take(one, said.corpus, said.text)
            if one.index % 2 == 1:  # held out
                told.take(said.path, said.text)
    corpora = sorted({u.corpus for u in speech.utterances})
    print(body := report(trial, told, arguments.lm, corpora))
    print(write_report("word_confidence", "Confidence of words", body))


def report(trial: Trial, told: ToldWords, lm: str, corpora: Sequence[str]) -> str:
    """The page."""
    options = trial.options
    measures = ["words", "% right", "cross entropy", "calibration error", "ranking"]
    both = 2 * ["cross entropy", "ranking"]
    times = 1000 * np.array(trial.lattice_seconds)
    given_up = told.close()
    about = f"""
Development recordings with a transcript: every other one is reported, the rest chose scale and
coverage. Language model: {lm}, at a weight of {options.graph_scale:g}. Beam {options.beam:g},
max_active {options.max_active}, lattice_beam {options.lattice_beam:g}, lists of {LIST_SIZE} for the
second pass. A lattice has {np.median(trial.arcs):.0f} arcs (median; {max(trial.arcs)} at most) and
takes {np.median(times):.1f} ms of CPU ({np.percentile(times, 95):.0f} for 95 %, {times.max():.0f}
at most); {trial.narrowed} of {len(times)} were narrowed. The search ran short of records in
{trial.overflows} frames of {trial.frames}."""
    return f"""\
{textwrap.fill(about.strip().replace(chr(10), " "), 130)}

Cross entropy: normalised; 1 is perfect, 0 as good as one number for all words, and below that worse
than saying nothing. Calibration error: how far what is said lies from what is so, on average.
Ranking: how often a right word has more confidence than a wrong one; a half is chance.

## Words of the first pass

{table(["confidence", *measures], arms(trial, FIRST))}

## Words that the second pass chose

{table(["confidence", *measures], arms(trial, SECOND))}

By corpus, tokens of the attention decoders on the left, the lattice as chosen on the right:

{table(["corpus", "words", "% right", *both], by_corpus(trial, corpora))}

## Words of finals

The same recordings through the engine's streams, with the engine's scale and coverage:
{told.finals} finals, of which {given_up} have no lattice. They end at pauses, not with recordings.

{table(["confidence", *measures], [["as told", *told.words.row()]])}

## What is said, and what is so

Likewise, of all words that the second pass chose:

{table(["confidence", *2 * ["words", "said", "so"]], reliability(trial))}
"""


if __name__ == "__main__":
    main()
