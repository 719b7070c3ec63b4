"""The teacher: Whisper's encoder as it was published, frozen, over whole recordings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from earshot.models.checkpoints.whisper.checkpoint import read_whisper
from earshot.models.features.log_mel import LogMel
from earshot.models.u2.encoder import Encoder
from earshot.models.u2.whisper_start import start_from_whisper, whisper_encoder_config

FRAME_FEATURES = 2  # feature frames for each of the teacher's
MOST_FEATURES = 3000  # 30 s, all that a Whisper has positions for


@dataclass(frozen=True)
class Teacher:
    """A frozen encoder that puts out a frame every 20 ms, and what it is given to hear.

    pad_frames: feature frames of silence after a recording, without which Whisper's frames are
    others. tail_frames: the teacher's frames of that silence that a student learns too.
    """

    encoder: Encoder
    extractor: LogMel
    pad_frames: int
    tail_frames: int
    bfloat16: bool = False

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return next(self.encoder.parameters()).device

    @property
    def size(self) -> int:
        """D of its frames."""
        return self.encoder.output_size

    @property
    def hop_samples(self) -> int:
        """Samples from one of its frames to the next."""
        return FRAME_FEATURES * self.extractor.frame_shift

    def frame_count(self, samples: int) -> int:
        """Frames of a recording of so many samples."""
        return samples // self.hop_samples + self.tail_frames

    def of_samples(self, samples: Tensor) -> Tensor:
        """Frames `(T, D)`, float32, of a clean recording `(N,)` in int16 range."""
        features = self.extractor.of_int16(samples.to(self.device))
        return self.of_features(features)[: self.frame_count(len(samples))]

    @torch.inference_mode()
    def of_features(self, features: Tensor) -> Tensor:
        """Frames `(T', D)`, float32, of features `(T, F)` and of the silence after them."""
        silence = self.extractor.silence.to(features)
        padding = min(self.pad_frames, max(0, MOST_FEATURES - len(features)))
        heard = torch.cat((features, silence.expand(padding, -1))).unsqueeze(0)
        lengths = torch.tensor([heard.size(1)], device=heard.device)
        with torch.autocast(heard.device.type, torch.bfloat16, enabled=self.bfloat16):
            frames, _ = self.encoder(heard, lengths)
        found: Tensor = frames[0].float()
        return found

    def checksum(self) -> str:
        """A checksum of its weights and of how it hears: frames that are kept depend on both."""
        found = hashlib.sha256(f"{self.pad_frames} {self.tail_frames} {self.bfloat16}".encode())
        for name, tensor in sorted(self.encoder.state_dict().items()):
            found.update(name.encode())
            found.update(tensor.cpu().contiguous().numpy().tobytes())
        return found.hexdigest()


def load_teacher(
    path: Path,
    extractor: LogMel,
    pad_seconds: float,
    tail_seconds: float,
    device: torch.device,
    bfloat16: bool,
) -> Teacher:
    """The encoder of the Whisper at `path`. Raises ModelError if there is none."""
    checkpoint = read_whisper(path)
    encoder = Encoder(whisper_encoder_config(checkpoint.dims, None))
    start_from_whisper(encoder, checkpoint)
    encoder.eval().requires_grad_(False).to(device)
    tail_frames = round(100 * tail_seconds) // FRAME_FEATURES
    # Frames of the extractor are whole ones only: the last samples have theirs in the silence.
    least = FRAME_FEATURES * (tail_frames + 2)
    pad_frames = max(round(100 * pad_seconds), least)
    return Teacher(encoder, extractor, pad_frames, tail_frames, bfloat16)
