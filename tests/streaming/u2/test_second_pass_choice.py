"""A stream of a model with Whisper's decoder ends in words that it has written."""

from dataclasses import replace
from pathlib import Path

import pytest
import soundfile
import torch

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.errors import ModelError
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.tokenizer import read_whisper_tokenizer
from earshot.streaming.stream_config import StreamConfig

TEXT = (
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON"
    " ITSELF BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
)
TOKENS = Path(__file__).resolve().parents[2] / "golden" / "whisper" / "hugging_face"
RECORDING = "librispeech-1995-1837-0001.wav"


@pytest.fixture(scope="module")
def model(golden_dir: Path) -> LoadedModel:
    """A real encoder with its CTC head, and a decoder of random weights."""
    loaded = load_model(golden_dir / "u2pp_conformer")
    writer = read_whisper_tokenizer(TOKENS)
    heard = u2_of(loaded)
    decoder = WhisperDecoderConfig(
        vocab_size=writer.first_timestamp, positions=448, size=heard.config.encoder.output_size,
        attention_heads=4, num_blocks=1, prompt=tuple(writer.prompt()), end=writer.end_of_text,
    )  # fmt: skip
    torch.manual_seed(1)
    model = U2Model(replace(heard.config, decoder=decoder)).eval().requires_grad_(False)
    kept = {k: v for k, v in heard.state_dict().items() if not k.startswith("decoder.")}
    model.load_state_dict({**model.state_dict(), **kept})
    return replace(loaded, model=model, writer=writer)


def test_finals_have_words_as_they_are_written(make_engine, model, golden_dir, sounds):
    engine = make_engine(model, chunk_size=16)
    samples = soundfile.read(golden_dir / "wavs" / RECORDING, dtype="float32")[0]
    heard = sounds.transcribe(engine, samples, StreamConfig(weights={"ctc": 10.0}))
    assert heard.text == TEXT
    words = heard.finals[0].alternatives[0].words
    assert [word.text for word in words] == TEXT.split()
    written = [word.written or "" for word in words]
    assert [form.rstrip(",.?").upper() for form in written] == TEXT.split()
    assert written[0] == "It"


def test_all_modes_that_are_told_end(make_engine, model, golden_dir, sounds):
    engine = make_engine(model, chunk_size=16)
    samples = soundfile.read(golden_dir / "wavs" / RECORDING, dtype="float32")[0][:48_000]
    for mode in engine.model.modes:
        heard = sounds.transcribe(engine, samples, StreamConfig(mode=mode))
        assert heard.finals[0].alternatives[0].words


def test_a_decoder_without_tokens_is_refused(make_engine, model):
    with pytest.raises(ModelError, match="tokens"):
        make_engine(replace(model, writer=None))
