"""Posteriors to decode: made ones that look like CTC's, and files of any. Needs numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from earshot.decoder_kernels.graph.graph import Graph

Floats = npt.NDArray[np.float32]

BLANK_LOGIT = 3.0
SPIKE_LOGITS = (9, 8, 7, 5, 3)
RIVAL_LOGIT = 7.0
RIVAL_SHARE = 0.15
NOISE = 1.6


@dataclass(frozen=True, eq=False)
class Utterance:
    """What was said, and the natural logarithms ``(T, V)`` of what a model made of it."""

    corpus: str
    text: str
    log_probs: Floats


def simulated(graph: Graph, count: int, words: int, seed: int) -> list[Utterance]:
    """Utterances that the graph's language model might say, in a good model's peaky posteriors.

    ``graph`` must be compact or normal. Each says at least ``words`` words.
    """
    rng = np.random.default_rng(seed)
    utterances = []
    for _ in range(count):
        tokens, text = _random_walk(graph, words, rng)
        log_probs = _peaky(tokens, graph.vocab_size, graph.blank_id, rng)
        utterances.append(Utterance("simulated", text, log_probs))
    return utterances


def save(path: Path, utterances: Sequence[Utterance]) -> None:
    """Write them to one .npz file."""
    rows = {f"rows{i}": each.log_probs for i, each in enumerate(utterances)}
    corpora = np.array([each.corpus for each in utterances])
    texts = np.array([each.text for each in utterances])
    np.savez(path, allow_pickle=False, corpora=corpora, texts=texts, **rows)


def load(path: Path) -> list[Utterance]:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        pairs = zip(arrays["corpora"].tolist(), arrays["texts"].tolist(), strict=True)
        return [
            Utterance(corpus, text, arrays[f"rows{i}"]) for i, (corpus, text) in enumerate(pairs)
        ]


def total_frames(utterances: Sequence[Utterance]) -> int:
    """Of all of them."""
    return sum(len(each.log_probs) for each in utterances)


def _random_walk(graph: Graph, words: int, rng: np.random.Generator) -> tuple[list[int], str]:
    """Tokens and text of a path to a final node, each arc as likely as its cost says."""
    tokens: list[int] = []
    said: list[str] = []
    node = graph.start
    while len(said) < words or graph.finals[node] == np.inf:
        first, last = graph.first_arc[node], graph.first_arc[node + 1]
        chances = np.exp(-graph.weights[first:last].astype(np.float64))
        arc = first + rng.choice(last - first, p=chances / chances.sum())
        if graph.labels[arc]:
            tokens.append(int(graph.labels[arc]) - 1)
        if graph.words[arc]:
            said.append(graph.word_texts[graph.words[arc]])
        node = graph.targets[arc]
    return tokens, " ".join(said)


def _peaky(tokens: list[int], vocab_size: int, blank_id: int, rng: np.random.Generator) -> Floats:
    """Noise, blank above it, a spike of one or two frames for each token, at times a rival."""
    frames: list[int] = []
    for token in tokens:
        frames += [token] * int(rng.choice([1, 1, 2]))
        frames += [blank_id] * int(rng.integers(4))
    logits = rng.normal(0.0, NOISE, (len(frames), vocab_size))
    logits[:, blank_id] += BLANK_LOGIT
    for frame, token in enumerate(frames):
        logits[frame, token] += rng.choice(SPIKE_LOGITS)
        if rng.random() < RIVAL_SHARE:
            logits[frame, rng.integers(vocab_size)] += RIVAL_LOGIT
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits.astype(np.float32)
