"""What the real NeMo made of four utterances with tiny models, and those models as ours.

Only what the encoder needs: the archive's reader is the product's own.
"""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from earshot.models.config import FeatureConfig
from earshot.models.fastconformer.config import AttentionContext, FastConformerConfig
from earshot.models.fastconformer.encoder import FastConformerEncoder
from earshot.models.features.nemo_mel import NemoMel

MODELS = (
    "rnnt_offline",
    "tdt_offline",
    "hybrid_tdt_ctc",
    "ctc_offline",
    "rnnt_streaming",
    "conformer_ctc_striding4",
    "conformer_rnnt_striding4",
)


@dataclass(frozen=True)
class GoldenNemo:
    """A model with its outputs; `arrays` and `shapes` (of its parameters) by NeMo's names."""

    mel: NemoMel
    encoder: FastConformerEncoder
    arrays: dict[str, Tensor]
    shapes: dict[str, list[int]]
    audio: Tensor
    samples: Tensor

    @property
    def frames(self) -> Tensor:
        """Feature frames (B,) of the utterances."""
        return self.arrays["feature_lengths"]

    def features(self) -> Tensor:
        """Ours (B, T, F), before normalisation."""
        return self.mel(self.audio, self.samples)


def largest_difference(found: Tensor, expected: Tensor, lengths: Tensor) -> float:
    """Over the frames of (B, T, D) within `lengths` (B,)."""
    rows = zip(found, expected, lengths.tolist(), strict=True)
    return max(float((ours[:n] - theirs[:n]).abs().max()) for ours, theirs, n in rows)


def read_golden_nemo(folder: Path, name: str) -> GoldenNemo:
    values, weights = _read_archive(folder / f"{name}.nemo")
    config = _encoder_config(values)
    mel, encoder = (
        NemoMel(FeatureConfig(num_mel_bins=config.features_size, kind="nemo")),
        (FastConformerEncoder(config).eval()),
    )
    window, filters = (weights.pop(f"preprocessor.featurizer.{name}") for name in ("window", "fb"))
    mel.load_state_dict({"window": window, "filters": filters[0].T})
    encoder.load_state_dict(_below(weights, "encoder."))
    audio = _read_arrays(folder / "audio.npz")
    shapes = {
        key: shape
        for key, (shape, _) in json.loads((folder / f"{name}.json").read_text())[
            "state_dict"
        ].items()
    }
    return GoldenNemo(
        mel, encoder, _read_arrays(folder / f"{name}.npz"), shapes, audio["audio"], audio["lengths"]
    )


def _below(named: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): named[key] for key in named if key.startswith(prefix)}


def _read_arrays(path: Path) -> dict[str, Tensor]:
    with np.load(path) as arrays:
        return {key: torch.from_numpy(arrays[key]) for key in arrays}


def _read_archive(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    with tarfile.open(path, "r:") as archive:
        members = {Path(member.name).name: member for member in archive}
        values, weights = (
            archive.extractfile(members[name]).read()
            for name in ("model_config.yaml", "model_weights.ckpt")
        )
    return yaml.safe_load(values), torch.load(io.BytesIO(weights), weights_only=True)


def _encoder_config(values: dict[str, Any]) -> FastConformerConfig:
    encoder, size = values["encoder"], values["encoder"]["d_model"]
    channels, contexts = encoder["subsampling_conv_channels"], encoder["att_context_size"]
    normalise = values["preprocessor"]["normalize"]
    return FastConformerConfig(
        features_size=encoder["feat_in"],
        size=size,
        layers=encoder["n_layers"],
        heads=encoder["n_heads"],
        feed_forward_size=size * encoder["ff_expansion_factor"],
        stem_channels=size if channels == -1 else channels,
        subsampling=encoder["subsampling"],
        subsampling_factor=encoder["subsampling_factor"],
        causal_stem=encoder.get("causal_downsampling", False),
        kernel=encoder["conv_kernel_size"],
        conv_norm=encoder.get("conv_norm_type", "batch_norm"),
        causal_convolution=encoder.get("conv_context_size") == "causal",
        use_bias=encoder.get("use_bias", True),
        shared_positions=not encoder["untie_biases"],
        scale_input=encoder["xscaling"],
        normalise="none" if normalise == "NA" else normalise,
        contexts=tuple(AttentionContext(*each) for each in np.reshape(contexts, (-1, 2)).tolist()),
        context_style=encoder.get("att_context_style", "regular"),
    )
