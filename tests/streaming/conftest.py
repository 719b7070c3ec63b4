"""A model that hears tones, audio that speaks in them, and engines that end with their test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.config import DecoderConfig, DecodingConfig, FeatureConfig
from earshot.models.tokenizers.char import CharTokenizer
from earshot.models.tokenizers.units import CtcUnits, UnitTable
from earshot.models.u2.decoder import TransformerDecoder
from earshot.models.u2.lanes import EncoderState, LaneContext, LaneUpdate
from earshot.models.u2.u2 import U2Model
from earshot.streaming.assembly.families import build_recognizer
from earshot.streaming.engine.engine import Engine
from earshot.streaming.engine.stream import Stream
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import BacklogFull
from earshot.streaming.events import Closed, Event, Failed, Final, RoomAvailable
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.stream_config import StreamConfig, StreamPriority

RATE_HZ = 16000
DIGITS = "一二三四五六七八九"
BINS = range(16, 16 + 6 * len(DIGITS), 6)
MEL_TOP = 1127.0 * np.log(1.0 + 8000 / 700.0)
MEL_LOW = 1127.0 * np.log(1.0 + 20 / 700.0)
WAIT_S = 60.0

KNOWN = "一二三四五六七八"
"""Each is a word of its own; 九 is not in the graph, 三四 is one besides."""
RARE, RARE_COST = "七", 100.0
WORDS = ["<eps>", *KNOWN, "三四"]


def make_digit_loop(vocab_size: int, **changes) -> Graph:
    """Words in any order: single ones cost 1, the rare one more, 三四 less than 三 and 四 do."""
    arcs = [
        Arc(0, 4 + i, 1 + i, RARE_COST if digit == RARE else 1.0, 0)
        for i, digit in enumerate(KNOWN)
    ]
    third = KNOWN.index("三")
    arcs += [Arc(0, 4 + third, len(KNOWN) + 1, 0.5, 1), Arc(1, 5 + third, 0, 0.0, 0)]
    rest = {"loop_node": 0, "unknown_cost": 5.0, "topology": "compact", **changes}
    return Graph.from_arcs(arcs, {0: 0.0}, 2, vocab_size=vocab_size, word_texts=WORDS, **rest)


class ToneEncoder(nn.Module):
    """Means of four feature frames, as conv2d subsamples; remembers only how far each lane is."""

    subsampling_rate = 4
    right_context = 6
    output_size = 80

    def initial_state(self, lanes: int, cache_frames: int, device: torch.device) -> EncoderState:
        counts = torch.zeros(lanes, dtype=torch.int64, device=device)
        cache = torch.zeros(lanes, 1, 1, cache_frames + 1, 1, device=device)
        rest = torch.zeros(lanes, 1, 1, 1, device=device)
        return EncoderState(counts, counts.clone(), cache, rest)

    def forward_lanes(
        self, feats: Tensor, out_lengths: Tensor, context: LaneContext
    ) -> tuple[Tensor, LaneUpdate]:
        frames = (feats.size(1) - self.right_context - 1) // 4 + 1
        encoded = feats[:, : 4 * frames].unflatten(1, (frames, 4)).mean(dim=2)
        new = context.att_columns[:, :, :, -context.room :]
        return encoded, LaneUpdate(out_lengths, new, context.cnn_cache)


DECODER_SEED = 1
"""Of weights that know nothing, but always the same."""


class ToneModel(U2Model):
    """CTC posteriors that say the tone of each frame: every digit has a mel bin of its own."""

    right_decoder = None
    whisper_decoder = None
    transducer = None

    def __init__(self) -> None:
        nn.Module.__init__(self)  # none of a real network's parts
        self.encoder = ToneEncoder()
        self.place = nn.Parameter(torch.zeros(1))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(DECODER_SEED)
            self.left_decoder = TransformerDecoder(
                DecoderConfig(), 1, 3 + len(DIGITS), ToneEncoder.output_size
            )
        self.config = SimpleNamespace(
            vocab_size=3 + len(DIGITS),
            blank_id=0,
            sos_id=2,
            eos_id=2,
            encoder=SimpleNamespace(streamable=True),
            features=FeatureConfig(),
            decoding=DecodingConfig(),
            phones=(),
        )

    def ctc_log_probs(self, encoded: Tensor) -> Tensor:
        shape = (*encoded.shape[:-1], self.config.vocab_size)
        logits = torch.full(shape, 0.0, device=encoded.device)
        logits[..., 0] = 15.0
        logits[..., 3:] = encoded[..., list(BINS)]
        return logits.log_softmax(dim=-1)


def tone(digit: str, seconds: float) -> np.ndarray:
    """The sound of a digit."""
    mel = MEL_LOW + (MEL_TOP - MEL_LOW) / 81 * (BINS[DIGITS.index(digit)] + 1)
    hertz = 700.0 * (np.exp(mel / 1127.0) - 1.0)
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (0.3 * np.sin(2 * np.pi * hertz * time)).astype(np.float32)


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    """A quiet room."""
    samples = np.random.default_rng(seed).normal(0, 1e-4, round(seconds * RATE_HZ))
    return samples.astype(np.float32)


def speech(text: str, tone_s: float = 0.16, gap_s: float = 0.16) -> np.ndarray:
    """Audio of a text: digits are tones, a space is half a second of quiet, `_` two seconds."""
    parts = []
    for letter in text:
        if letter in DIGITS:
            parts += [noise(gap_s / 2), tone(letter, tone_s), noise(gap_s / 2)]
        else:
            parts.append(noise({" ": 0.5, "_": 2.0}[letter]))
    return np.concatenate(parts)


class Listener:
    """A sink that keeps what it hears; waiting never polls."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = threading.Condition()

    def __call__(self, event: Event) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def wait_for(self, wanted: Callable[[Event], bool]) -> Event:
        """The first event that is wanted, now or when it comes."""
        with self._news:
            found = self._news.wait_for(
                lambda: next((event for event in self.events if wanted(event)), None), WAIT_S
            )
        kinds = [type(event).__name__ for event in self.events]
        assert found is not None, f"never came; heard {kinds}"
        return found

    def wait_for_last(self) -> Closed | Failed:
        """The stream's last event."""
        last = self.wait_for(lambda event: isinstance(event, Closed | Failed))
        assert isinstance(last, Closed | Failed)
        return last

    def of(self, kind: type) -> list:
        """The events of one kind so far."""
        return [event for event in list(self.events) if isinstance(event, kind)]

    @property
    def finals(self) -> list[Final]:
        return self.of(Final)

    @property
    def text(self) -> str:
        """All finals' text."""
        return "".join(final.alternatives[0].text for final in self.finals)


def transcribe(
    engine: Engine,
    samples: np.ndarray,
    config: StreamConfig | None = None,
    sizes: Iterator[int] | None = None,
    priority: StreamPriority = StreamPriority.FILE,
) -> Listener:
    """Push all samples, in pieces of the given sizes, finish, and wait for the end."""
    listener = Listener()
    stream = engine.open(config or StreamConfig(), listener, priority)
    push_all(stream, samples, sizes, listener)
    stream.finish()
    last = listener.wait_for_last()
    assert isinstance(last, Closed), last
    return listener


def push_all(
    stream: Stream,
    samples: np.ndarray,
    sizes: Iterator[int] | None = None,
    listener: Listener | None = None,
) -> None:
    """Push samples in pieces; with a listener, wait for room where there is none."""
    start = refused = 0
    while start < len(samples):
        size = next(sizes) if sizes else 8000
        try:
            stream.push(samples[start : start + size])
            start += size
        except BacklogFull:
            if listener is None:
                raise
            refused += 1
            listener.wait_for(lambda _, count=refused: len(listener.of(RoomAvailable)) >= count)


@pytest.fixture(scope="session")
def tone_model() -> LoadedModel:
    """The model that hears tones."""
    symbols = ["<blank>", "<unk>", "<sos/eos>", *DIGITS]
    units = UnitTable.parse("".join(f"{s} {i}\n" for i, s in enumerate(symbols)), "tones")
    return LoadedModel(
        "tones", ToneModel().eval(), CharTokenizer(units), "earshot", ctc=CtcUnits(blank_id=0)
    )


@contextmanager
def engines_made() -> Iterator[Callable[..., Engine]]:
    """Makes and starts engines; stops them on the way out."""
    engines: list[Engine] = []

    def make(
        loaded: LoadedModel, observer=None, graph=None, sentences=None, labels=None, **options
    ) -> Engine:
        config = EngineConfig(**{"threads": 1, **options})
        given = {"graph": graph, "neural_lm": sentences, "transducer_lm": labels}
        parts = {name: part for name, part in given.items() if part is not None}
        recognizer = build_recognizer(loaded, config, parts)
        engine = Engine(recognizer, config, observer)
        engines.append(engine)
        engine.start()
        return engine

    yield make
    for engine in engines:
        assert engine.stop(WAIT_S)


@pytest.fixture
def make_engine() -> Iterator[Callable[..., Engine]]:
    """Makes and starts engines; stops them after the test."""
    with engines_made() as make:
        yield make


@pytest.fixture(scope="module")
def module_engines() -> Iterator[Callable[..., Engine]]:
    """The same for all tests of a module: for engines that take long to make."""
    with engines_made() as make:
        yield make


@pytest.fixture
def tone_engine(make_engine, tone_model) -> Engine:
    """An engine for the model that hears tones, chunks of 8 frames (320 ms)."""
    return make_engine(tone_model, chunk_size=8, num_left_chunks=2, max_streams=8)


@pytest.fixture
def make_graph_engine(make_engine, tone_model) -> Callable[..., Engine]:
    """Makes engines that search the loop of digits."""

    def make(loaded=None, graph_search=None, sentences=None, **changes) -> Engine:
        loaded = loaded or tone_model
        graph = make_digit_loop(loaded.tokenizer.vocab_size, **changes)
        config = graph_search or GraphSearchConfig(lm_weight=1.0, max_active=200)
        options = {"chunk_size": 8, "num_left_chunks": 2, "max_streams": 8}
        return make_engine(loaded, graph=graph, sentences=sentences, graph_search=config, **options)

    return make


@pytest.fixture
def graph_engine(make_graph_engine) -> Engine:
    """An engine that searches the loop of digits."""
    return make_graph_engine()


@pytest.fixture(scope="session")
def digit_loop() -> Callable[..., Graph]:
    """Makes loops of digits."""
    return make_digit_loop


@pytest.fixture(scope="session")
def sounds() -> SimpleNamespace:
    """Helpers for tests: audio, listening, transcribing."""
    return SimpleNamespace(
        speech=speech,
        noise=noise,
        tone=tone,
        Listener=Listener,
        transcribe=transcribe,
        push_all=push_all,
        digits=DIGITS,
        rate_hz=RATE_HZ,
    )
