"""A recipe of seconds that distils a random Whisper of two small layers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from earshot.training.recipe.checkpoint_config import CheckpointConfig
from earshot.training.recipe.config import (
    AugmentConfig,
    NetworkConfig,
    Recipe,
    StartConfig,
    WaveformConfig,
)
from earshot.training.recipe.distil_config import DistilConfig
from earshot.training.recipe.optimiser_config import OptimiserConfig

WHISPER = Path(__file__).resolve().parents[2] / "golden" / "whisper"


@pytest.fixture
def distil_recipe(tone_recipe: Recipe, tmp_path: Path) -> Recipe:
    """The teacher's frames of the tones that stand alone are kept; the others are computed."""
    return replace(
        tone_recipe,
        name="distilled",
        data=replace(tone_recipe.data, work_dir=tmp_path / "work"),
        start=StartConfig(whisper=WHISPER / "openai.pt"),
        distil=DistilConfig(alone=True, teacher_pad_seconds=1.0, tail_seconds=0.2),
        waveform=WaveformConfig(simulated_rooms=2, speeds=(0.9, 1.0), clip_speeds=(1.0, 1.1)),
        augment=AugmentConfig(from_step=0, spec_augment_from_step=10_000, pad_seconds=0.4),
        network=NetworkConfig(
            encoder="whisper",
            pool_after_block=1,
            narrow=8,
            attention_heads=2,
            decoder_linear_units=16,
            decoder_blocks=1,
            decoder_r_blocks=1,
            dropout_rate=0.0,
            chunk_size=6,
        ),
        optimiser=OptimiserConfig(
            peak_rate=2e-3,
            warmup_steps=5,
            decay_from_step=60,
            total_steps=90,
            batch_seconds=4.0,
            weight_decay=0.0,
            min_chunk_frames=2,
            max_chunk_frames=8,
            min_left_frames=8,
        ),
        checkpoints=CheckpointConfig(log_every=10, save_every=30, dev_utterances=6, average=1),
    )


@pytest.fixture
def decoder_recipe(distil_recipe: Recipe, tmp_path: Path) -> Recipe:
    """One that trains heads and Whisper's decoder, with all of its tokens."""
    whisper, texts = tmp_path / "whisper" / "tiny.pt", tmp_path / "texts.txt"
    whisper.parent.mkdir()
    shutil.copy(WHISPER / "openai.pt", whisper)
    shutil.copy(WHISPER / "hugging_face" / "tokenizer.json", whisper.parent)
    texts.write_text("The cat. the cat\n" * 9)
    return replace(
        distil_recipe,
        start=StartConfig(whisper=whisper),
        data=replace(distil_recipe.data, joined_corpora=()),
        network=replace(
            distil_recipe.network, narrow=None, decoder="whisper", decoder_texts=(texts,)
        ),
        distil=replace(distil_recipe.distil, decoder_weight=0.1, whisper=whisper),
        optimiser=replace(distil_recipe.optimiser, ctc_weight=1.0),
    )
