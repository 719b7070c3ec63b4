"""A stream's numbers do not depend on who shares its steps: to the bit, from sound to events."""

from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
import soundfile
import torch

from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.config import DecoderConfig, EncoderConfig, FeatureConfig
from earshot.models.features.whisper_fbank import WhisperFbank
from earshot.models.u2.u2 import U2Model
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


@pytest.fixture(scope="module")
def whisper(model) -> LoadedModel:
    """The bundled model's tokens on a small random encoder of Whisper's kind."""
    torch.manual_seed(3)
    config = replace(
        model.model.config,
        features=FeatureConfig(kind="whisper"),
        encoder=EncoderConfig(
            kind="transformer", output_size=32, attention_heads=2, linear_units=64, num_blocks=2,
            input_layer="whisper", positions="whisper", activation="gelu", pool_after_block=1,
            narrow=16,
        ),
        decoder=DecoderConfig(attention_heads=2, linear_units=32, num_blocks=1, r_num_blocks=1),
    )  # fmt: skip
    return replace(model, model=U2Model(config).eval().requires_grad_(False))


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


@pytest.mark.parametrize("streams", COMPANY)
def test_whispers_log_probabilities_have_the_same_bits_in_any_company(whisper, streams):
    alone, together = steps(whisper, 1), steps(whisper, streams)
    for one, other in zip(alone, together, strict=True):
        for name, numbers in one.items():
            assert torch.equal(numbers, other[name]), name


@torch.inference_mode()
def test_whispers_steps_are_the_masked_whole_of_its_own_features(whisper, assert_same):
    found = torch.cat([step["encoded"] for step in steps(whisper, 2)])
    extractor, decoding = WhisperFbank(), whisper.model.config.decoding
    lead_in = np.zeros(decoding.lead_in_ms * 16, np.float32)
    feats = extractor(torch.from_numpy(np.concatenate((lead_in, audio(0)))))[None]
    lengths = torch.tensor([feats.size(1)])
    whole, _ = whisper.model.encoder(feats, lengths, CONFIG.chunk_size, decoding.num_left_chunks)
    assert len(found) == STEPS * CONFIG.chunk_size
    assert_same(found, whole[0, : len(found)], rtol=1e-5)


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
