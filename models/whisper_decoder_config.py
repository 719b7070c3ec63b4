"""Sizes and special tokens of a Whisper decoder: frozen, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from earshot.models.config_limits import MAX_BLOCKS, MAX_DIMENSION, MAX_VOCABULARY
from earshot.models.errors import ConfigError

MAX_WINDOW_FRAMES = 1_500
"""Of 20 ms: the 30 s of every published Whisper. Its encoder hears that much silence at once."""


@dataclass(frozen=True)
class WhisperDecoderConfig:
    """The defaults are those of tiny.en.

    size: D, of its memory too. positions: the most tokens of a text, special ones included.
    prompt: the tokens before each text: its start, for a multilingual model the language and the
    task, and that no times are wanted. end: the token after a text. window_frames: of the
    recordings that it was taught with, silence at their end included, in frames of its memory;
    0: it was taught with segments as they are. Raises ConfigError.
    """

    kind: Literal["whisper"] = "whisper"
    vocab_size: int = 51_864
    positions: int = 448
    size: int = 384
    attention_heads: int = 6
    num_blocks: int = 4
    prompt: tuple[int, ...] = (50_257, 50_362)
    end: int = 50_256
    window_frames: int = 0

    def __post_init__(self) -> None:
        _require_kind(self.kind)
        for name, most in _MOST.items():
            _require(name, getattr(self, name), 1, most)
        _require("window_frames", self.window_frames, 0, MAX_WINDOW_FRAMES)
        if self.size % self.attention_heads:
            raise ConfigError(
                f"size={self.size} is not a multiple of attention_heads={self.attention_heads}"
            )
        if not 1 <= len(self.prompt) < self.positions:
            raise ConfigError("prompt holds no token, or more than there are positions")
        for token in (*self.prompt, self.end):
            _require("a token of prompt, or end,", token, 0, self.vocab_size - 1)

    @property
    def bidirectional(self) -> bool:
        """Never: it reads from left to right."""
        return False


_MOST = {
    "vocab_size": MAX_VOCABULARY,
    "positions": MAX_DIMENSION,
    "size": MAX_DIMENSION,
    "attention_heads": MAX_DIMENSION,
    "num_blocks": MAX_BLOCKS,
}


def _require_kind(kind: object) -> None:
    if kind != "whisper":
        raise ConfigError(f"kind={kind!r} of a Whisper decoder")


def _require(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise ConfigError(f"{name}={value!r} is not within {low}..{high}")
