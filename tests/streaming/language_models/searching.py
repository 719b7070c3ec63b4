"""What tests of streams ask of a search with language models, and how they look at it."""

from dataclasses import asdict
from pathlib import Path

from tiny_lms import Costs

from earshot.streaming.events import Final, Partial
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.stream_config import StreamConfig

SCALE = 0.5
MODES = ("ctc_wfst_beam_search", "attention_rescoring")
MIX = "tenant:0.25,other:0.75"
PATIENCE_S = 30.0


def asking(lm: str | None = None, mode: str = MODES[0], **options) -> StreamConfig:
    return StreamConfig(mode=mode, graph=named(lm), **options)


def asking_for_all(lm: str | None = None, **options) -> StreamConfig:
    """Alternatives without partials, which would keep their stable words."""
    graph = named(lm, **options)
    return StreamConfig(mode=MODES[0], graph=graph, alternatives=100, interim_results=False)


def named(lm: str | None, **options) -> GraphOptions:
    return GraphOptions(lm=None if lm is None else read_lm(lm), **options)


def speaking(engine, config: StreamConfig, samples, sounds):
    """A stream whose first partial has come, and who listens to it."""
    listener = sounds.Listener()
    stream = engine.open(config, listener)
    stream.push(samples)
    listener.wait_for(lambda event: isinstance(event, Partial))
    return stream, listener


def together(engine, asked, spoken, sounds) -> list:
    """Listeners to streams that are spoken to in turn, a fifth of a second at a time."""
    listeners = [sounds.Listener() for _ in asked]
    streams = [engine.open(*each) for each in zip(asked, listeners, strict=True)]
    chunk = sounds.rate_hz // 5
    for start in range(0, max(map(len, spoken)), chunk):
        for stream, samples in zip(streams, spoken, strict=True):
            stream.push(samples[start : start + chunk])
    for stream in streams:
        stream.finish()
    for listener in listeners:
        listener.wait_for_last()
    return listeners


def told(heard) -> list[dict[str, object]]:
    """All partials and finals, as they were told."""
    return [asdict(event) for event in heard.of(Partial) + heard.of(Final)]


def scores(heard) -> dict[str, float]:
    """Of the alternatives of the only final."""
    [final] = heard.finals
    return scores_of(final)


def scores_of(final: Final) -> dict[str, float]:
    """Of the alternatives, by their texts."""
    return {each.text: each.score for each in final.alternatives}


def cost(costs: Costs, text: str, *, end: bool = True) -> float:
    """Of a text by a model of single words, of a sentence if it ends."""
    return sum(costs[word] for word in text) + (costs["</s>"] if end else 0.0)


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()
