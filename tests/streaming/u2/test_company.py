"""A stream's numbers do not depend on who shares its steps: to the bit, from sound to events."""

from concurrent.futures import Future

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.stream.active_stream import ActiveStream
from earshot.streaming.stream.inbox import Inbox
from earshot.streaming.stream.lane import Lane
from earshot.streaming.stream_config import StreamConfig, StreamPriority

COMPANY = (2, 5, 16)
STEPS = 6
CONFIG = EngineConfig(max_streams=max(COMPANY), chunk_size=8, threads=1)


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model(bundled_model_dir())


def audio(seed: int) -> np.ndarray:
    """Noise that comes and goes, in which the model hears something."""
    random = np.random.default_rng(seed)
    envelope = np.repeat(random.uniform(0, 0.3, 40), 1600)
    return (envelope * random.normal(size=len(envelope))).astype(np.float32)


@torch.inference_mode()
def steps(model: LoadedModel, streams: int) -> list[dict[str, torch.Tensor]]:
    """What the first of so many streams gets in each step."""
    recognizer = build_recognizer(model, CONFIG)
    opened = []
    for slot in range(streams):
        stream = ActiveStream(
            slot, StreamConfig(), "prefix", StreamPriority.FILE, lambda event: None, Inbox(1),
            Future(), recognizer.settings,
        )  # fmt: skip
        stream.listen(audio(slot))
        opened.append(stream)
    found = []
    for _ in range(STEPS):
        lanes = [Lane(stream, stream.ready_cut()) for stream in opened]
        recognizer.encode(lanes)
        recognizer.decode(lanes)
        first = lanes[0]
        found.append({"encoded": first.encoded, "log_probs": first.output.log_probs})
    return found


@pytest.mark.parametrize("streams", COMPANY)
def test_log_probabilities_have_the_same_bits_in_any_company(model, streams):
    alone, together = steps(model, 1), steps(model, streams)
    for one, other in zip(alone, together, strict=True):
        for name, numbers in one.items():
            assert torch.equal(numbers, other[name]), name


def heard_by_the_first(make_engine, model, sounds, recordings) -> list[tuple]:
    """All results of the first of some recordings, which are decoded together."""
    engine = make_engine(model, **vars(CONFIG) | {"max_file_lanes": CONFIG.max_batch})
    opened = []
    for samples in recordings:
        listener = sounds.Listener()
        opened.append((engine.open(StreamConfig(), listener), listener, samples))
    for stream, _, samples in opened:
        sounds.push_all(stream, samples)
        stream.finish()
    for _, listener, _ in opened:
        listener.wait_for_last()
    first = opened[0][1]
    assert first.text
    return [
        (event.start_s, event.duration_s, event.alternatives)
        for event in first.events
        if hasattr(event, "alternatives")
    ]


@pytest.mark.parametrize("streams", COMPANY)
def test_events_are_the_same_in_any_company(make_engine, model, sounds, clips_manifest, streams):
    clips = sorted(clips_manifest.parent.glob("*.opus"))
    spoken = [soundfile.read(path, dtype="float32")[0] for path in clips]
    company = [spoken[number % len(spoken)] for number in range(streams)]
    alone = heard_by_the_first(make_engine, model, sounds, company[:1])
    assert heard_by_the_first(make_engine, model, sounds, company) == alone
