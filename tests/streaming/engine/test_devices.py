"""Streams on a GPU are those on the CPU: all that is bundled, real speech, all modes.

Where there is no GPU, an emulated one shows at least that nothing mixes devices.
"""

from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from emulator import BLOCK_THREADS, built, schedule

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.graph.graph_file import read_graph
from earshot.decoder_kernels.graph.unpacked_copies import UnpackedCopies
from earshot.models.bundled import bundled_model_dir
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.neural_lm.lm_file import NEURAL_LM_FILE, load_neural_lm
from earshot.models.neural_lm.sentence_scorer import SentenceScorer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.events import Closed, Final, Word
from earshot.streaming.search.decoding_mode import WENET_MODES
from earshot.streaming.stream_config import Boost, StreamConfig

CLIPS = ("iced-coffee", "seven", "the-door")
WITHOUT_KERNEL = "ctc_greedy_search"  # torch alone finds the best token of each frame
SIZES = BLOCK_THREADS if built() else [0]
"""Of blocks, a size for each mode: the kernels' own tests take them all."""
EMULATED_S = 2.0
"""Of two clips: a second takes the emulated device ten, under a hostile schedule longer."""
EngineMaker = Callable[..., Engine]
SMALL = {"max_streams": len(CLIPS), "max_file_lanes": len(CLIPS)}
BOOSTS = (Boost("ambulance", 3.0), Boost("zorblax", 2.0))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return read_graph(bundled_model_dir() / "lm.graph.xz", UnpackedCopies.of_user())


@pytest.fixture(scope="module")
def clips(repository_dir: Path) -> list[np.ndarray]:
    """Samples at 16 kHz."""
    paths = [repository_dir / "web" / "samples" / f"{name}.opus" for name in CLIPS]
    read = [soundfile.read(path, dtype="float32") for path in paths]
    assert all(rate == 16_000 for _, rate in read)
    return [samples for samples, _ in read]


@cache
def bundled(device: torch.device | str = "cpu") -> LoadedModel:
    return load_model(bundled_model_dir(), torch.device(device))


@cache
def sentences(device: torch.device | str = "cpu") -> SentenceScorer:
    return load_neural_lm(bundled_model_dir() / NEURAL_LM_FILE, torch.device(device))


@pytest.fixture(scope="module")
def on_a_cpu(module_engines: EngineMaker, graph: Graph) -> Engine:
    """What it multiplies is as exact as on the other device, whatever the processor could.

    It hears in all modes: an engine with the bundled graph takes five seconds to make.
    """
    rest = {"graph": graph, "sentences": sentences(), "precision": "float32", **SMALL}
    return module_engines(bundled(), **rest)


@pytest.fixture(scope="module")
def emulated_engine(
    module_engines: EngineMaker, graph: Graph, emulated: torch.device
) -> Callable[[int], Engine]:
    """By threads of a block, which searches take over when they are made."""
    model, scorer = bundled(emulated), sentences(emulated)
    for network in (model.model, scorer.network):
        assert {weights.device.type for weights in network.parameters()} == {"emulated"}

    @cache
    def engine(block_threads: int) -> Engine:
        return module_engines(model, graph=graph, sentences=scorer, **SMALL)

    return engine


def heard(engine: Engine, clips: list[np.ndarray], mode: str, sounds) -> list[list[Final]]:
    """The finals of streams that are decoded in company."""
    listeners = []
    for samples in clips:
        listener = sounds.Listener()
        stream = engine.open(StreamConfig(mode=mode, boosts=BOOSTS), listener)
        stream.push(samples)
        stream.finish()
        listeners.append(listener)
    for listener in listeners:
        last = listener.wait_for_last()
        assert isinstance(last, Closed), last
    return [listener.finals for listener in listeners]


def assert_alike(there: list[list[Final]], here: list[list[Final]], tolerance: float) -> None:
    """The same words, as sure. Rounding differs by who shared a batch."""
    for one, other in zip(map(words, there), map(words, here), strict=True):
        assert one
        assert [word.text for word in one] == [word.text for word in other]
        np.testing.assert_allclose(
            [word.confidence for word in one], [word.confidence for word in other], atol=tolerance
        )


def words(finals: list[Final]) -> list[Word]:
    return [word for final in finals for word in final.alternatives[0].words]


@pytest.fixture
def on_the_emulated_device(
    request: pytest.FixtureRequest, emulated_engine: Callable[[int], Engine], block_threads: int
) -> Engine:
    """Made and used with the schedule of the kernels' tests; launches count from its use on."""
    emulator = built()
    if emulator is None:
        return emulated_engine(block_threads)
    hostile = schedule(block_threads, request.node.name)
    emulator.restart(hostile, block_threads)
    engine = emulated_engine(block_threads)
    emulator.restart(hostile, block_threads)
    return engine


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("mode", "block_threads"), list(zip(WENET_MODES, cycle(SIZES), strict=False))
)
def test_no_operation_mixes_devices(
    on_a_cpu, on_the_emulated_device, block_threads, clips, sounds, mode
) -> None:
    clips = [samples[: round(EMULATED_S * 16_000)] for samples in clips[:2]]
    expected = heard(on_a_cpu, clips, mode, sounds)
    found = heard(on_the_emulated_device, clips, mode, sounds)
    assert_alike(found, expected, tolerance=1e-3)
    if (emulator := built()) is not None:
        assert emulator.most_threads == (0 if mode == WITHOUT_KERNEL else block_threads)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", WENET_MODES)
def test_a_gpu_hears_what_the_cpu_hears(make_engine, on_a_cpu, graph, clips, sounds, mode) -> None:
    expected = heard(on_a_cpu, clips, mode, sounds)
    engine = make_engine(bundled("cuda"), graph=graph, sentences=sentences("cuda"), **SMALL)
    assert_alike(heard(engine, clips, mode, sounds), expected, tolerance=0.02)
