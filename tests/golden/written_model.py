"""A model that hears, with a Whisper decoder that knows nothing."""

from dataclasses import replace
from pathlib import Path

import torch

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.u2.u2 import U2Model
from earshot.models.whisper_decoder_config import WhisperDecoderConfig
from earshot.models.whisper_tokenizer.tokenizer import read_whisper_tokenizer

TOKENS = Path(__file__).resolve().parent / "whisper" / "hugging_face"

TEXT = (
    "IT WAS THE FIRST GREAT SORROW OF HIS LIFE IT WAS NOT SO MUCH THE LOSS OF THE COTTON"
    " ITSELF BUT THE FANTASY THE HOPES THE DREAMS BUILT AROUND IT"
)
RECORDING = "librispeech-1995-1837-0001.wav"


def make_written_model(golden_dir: Path, window_frames: int = 0) -> LoadedModel:
    """A real encoder with its CTC head, and a decoder of random weights."""
    loaded = load_model(golden_dir / "u2pp_conformer")
    writer = read_whisper_tokenizer(TOKENS)
    heard = u2_of(loaded)
    decoder = WhisperDecoderConfig(
        vocab_size=writer.first_timestamp, positions=448, size=heard.config.encoder.output_size,
        attention_heads=4, num_blocks=1, prompt=tuple(writer.prompt()), end=writer.end_of_text,
        window_frames=window_frames,
    )  # fmt: skip
    torch.manual_seed(1)
    model = U2Model(replace(heard.config, decoder=decoder)).eval().requires_grad_(False)
    kept = {k: v for k, v in heard.state_dict().items() if not k.startswith("decoder.")}
    model.load_state_dict({**model.state_dict(), **kept})
    return replace(loaded, model=model, writer=writer)
