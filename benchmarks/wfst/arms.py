"""Decoders that take turns on one core, and what they made of each utterance."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from benchmarks.wfst.ours import Batch, OurSearch
from benchmarks.wfst.posteriors import Utterance, total_frames
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.wfst.wfst_search import WfstOptions

EQUAL_NATS = 0.01


@dataclass(frozen=True)
class Outcome:
    """What a decoder made of one utterance; ``tokens`` alive after each chunk, if it tells."""

    seconds: float
    cost: float = 0.0
    text: str = ""
    tokens: Sequence[int] = ()


@dataclass
class Arm:
    """A decoder in a comparison; ``rounds`` has its outcomes, in the order of the utterances."""

    name: str
    decode: Callable[[Utterance], Outcome]
    lost_frames_so_far: Callable[[], int] = lambda: 0
    rounds: list[list[Outcome]] = field(default_factory=list)

    def ms_per_frame(self, utterances: Sequence[Utterance]) -> float:
        """Of the fastest round."""
        seconds = min(sum(each.seconds for each in outcomes) for outcomes in self.rounds)
        return 1e3 * seconds / total_frames(utterances)

    def lost_frames(self) -> int:
        """Of one round: they are all alike."""
        return self.lost_frames_so_far() // len(self.rounds)

    def costs(self) -> list[float]:
        """Of the best paths."""
        return [each.cost for each in self.rounds[0]]

    def texts(self) -> list[str]:
        """Of the best paths."""
        return [each.text for each in self.rounds[0]]

    def mean_tokens(self) -> str:
        """Per frame; empty where a decoder does not tell."""
        counts = [count for each in self.rounds[0] for count in each.tokens]
        return f"{sum(counts) / len(counts):,.0f}" if counts else ""


def take_turns(arms: Sequence[Arm], utterances: Sequence[Utterance], rounds: int) -> None:
    """Every arm decodes an utterance before any decodes the next, so they share what disturbs."""
    for _ in range(rounds):
        for arm in arms:
            arm.rounds.append([])
        for utterance in utterances:
            for arm in arms:
                arm.rounds[-1].append(arm.decode(utterance))


def timed(name: str, decode: Callable[[Utterance], tuple[float, str]]) -> Arm:
    """A peer that gives cost and text; times are of the CPU."""

    def outcome(utterance: Utterance) -> Outcome:
        began = time.process_time()
        cost, text = decode(utterance)
        return Outcome(time.process_time() - began, cost, text)

    return Arm(name, outcome)


def ours(name: str, graph: Graph, options: WfstOptions, chunk_frames: int | None) -> Arm:
    """Our search of one stream, whole utterances at once if ``chunk_frames`` is None."""
    search = OurSearch(graph, options)

    def outcome(utterance: Utterance) -> Outcome:
        chunks = Batch.of([torch.from_numpy(utterance.log_probs)]).chunks(chunk_frames)
        tokens: list[int] = []
        search.start()
        seconds = 0.0
        for chunk in chunks:
            began = time.process_time()
            search.advance(chunk)
            seconds += time.process_time() - began
            tokens.append(search.tokens())
        began = time.process_time()
        [best] = search.best(finalize=True)
        seconds += time.process_time() - began
        text = " ".join(graph.word_texts[word] for word in best.words)
        return Outcome(seconds, best.cost, text, tokens if chunk_frames else ())

    return Arm(name, outcome, search.overflows)


def against(costs: Sequence[float], peers: Sequence[float]) -> str:
    """How many paths cost less than the peer's, as much, and more."""
    differences = [cost - peer for cost, peer in zip(costs, peers, strict=True)]
    less = sum(each < -EQUAL_NATS for each in differences)
    more = sum(each > EQUAL_NATS for each in differences)
    return f"{less} / {len(differences) - less - more} / {more}"


def times_slower(peer: tuple[float, float], ours: Sequence[tuple[float, float]]) -> str:
    """Than the fastest of our settings that err no more than the peer does."""
    equal = [took for wer, took in ours if wer <= peer[0]]
    return f"{peer[1] / min(equal):.1f}" if equal else "ours does not reach it"
