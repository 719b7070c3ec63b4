"""A `.nemo` archive of a network with weights of our own, as NeMo would have saved it.

Of encoders that hear in chunks, with an RNN-T over sentencepieces.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import yaml
from torch import Tensor

from earshot.models.fastconformer.config import FastConformerConfig, FastConformerModelConfig
from earshot.models.fastconformer.model import FastConformerModel

MODULES = "nemo.collections.asr.modules."
PIECES = "tokenizer.model"
PLACES = {
    "features.window": "preprocessor.featurizer.window",
    "features.filters": "preprocessor.featurizer.fb",
    "encoder.": "encoder.",
    "transducer.predictor.embed.": "decoder.prediction.embed.",
    "transducer.predictor.lstm.": "decoder.prediction.dec_rnn.lstm.",
    "transducer.joint.encoder.": "joint.enc.",
    "transducer.joint.predictor.": "joint.pred.",
    "transducer.joint.output.": "joint.joint_net.2.",
}
"""NeMo's names for ours, by what they begin with."""


def write_archive(path: Path, model: FastConformerModel, pieces: bytes) -> None:
    """Write it; pieces: a sentencepiece model of as many units as the network has."""
    weights = io.BytesIO()
    torch.save(dict(map(_named, *zip(*model.state_dict().items(), strict=True))), weights)
    units = sentencepiece.SentencePieceProcessor(model_proto=pieces)
    labels = [units.IdToPiece(unit) for unit in range(units.GetPieceSize())]
    described = yaml.safe_dump(_described(model.config, labels), allow_unicode=True)
    with tarfile.open(path, "w") as archive:
        for name, content in (
            ("model_config.yaml", described.encode()),
            (PIECES, pieces),
            ("model_weights.ckpt", weights.getvalue()),
        ):
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def sentencepieces(texts: Iterable[str], size: int) -> bytes:
    """So many units of texts, as NeMo's own tokenizers are made."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=model, vocab_size=size, model_type="bpe",
        unk_id=0, bos_id=-1, eos_id=-1, pad_id=-1, num_threads=1, minloglevel=2,
    )  # fmt: skip
    return model.getvalue()


def _named(name: str, tensor: Tensor) -> tuple[str, Tensor]:
    """A tensor by NeMo's name and in its shape."""
    begins = next(each for each in PLACES if name.startswith(each))
    if begins == "features.filters":
        tensor = tensor.T[None].contiguous()
    return PLACES[begins] + name.removeprefix(begins), tensor


def _described(config: FastConformerModelConfig, labels: list[str]) -> dict[str, Any]:
    """The archive's model_config.yaml."""
    head = config.transducer
    assert head is not None
    return {
        "target": "nemo.collections.asr.models.rnnt_bpe_models.EncDecRNNTBPEModel",
        "sample_rate": config.features.sample_rate_hz,
        "labels": labels,
        "tokenizer": {"type": "bpe", "model_path": f"nemo:{PIECES}"},
        "preprocessor": {
            "_target_": f"{MODULES}AudioToMelSpectrogramPreprocessor",
            "normalize": "NA", "features": config.features.num_mel_bins, "n_fft": 512,
            "window_size": 0.025, "window_stride": 0.01, "window": "hann",
        },
        "encoder": _encoder(config.encoder),
        "decoder": {
            "_target_": f"{MODULES}RNNTDecoder",
            "prednet": {
                "pred_hidden": head.predictor_size, "pred_rnn_layers": head.predictor_layers,
            },
            "vocab_size": head.vocab_size,
        },
        "joint": {
            "_target_": f"{MODULES}RNNTJoint",
            "jointnet": {"joint_hidden": head.joint_size, "activation": head.activation},
            "num_classes": head.vocab_size,
            "vocabulary": labels,
        },
        "decoding": {"greedy": {"max_symbols": head.max_symbols}},
    }  # fmt: skip


def _encoder(config: FastConformerConfig) -> dict[str, Any]:
    assert config.causal_convolution
    assert config.normalise == "none"
    return {
        "_target_": f"{MODULES}ConformerEncoder",
        "feat_in": config.features_size, "d_model": config.size, "n_layers": config.layers,
        "n_heads": config.heads, "ff_expansion_factor": config.feed_forward_size // config.size,
        "subsampling": config.subsampling, "subsampling_factor": config.subsampling_factor,
        "subsampling_conv_channels": config.stem_channels,
        "causal_downsampling": config.causal_stem,
        "conv_kernel_size": config.kernel, "conv_norm_type": config.conv_norm,
        "conv_context_size": "causal", "use_bias": config.use_bias,
        "untie_biases": not config.shared_positions, "xscaling": config.scale_input,
        "att_context_size": [[each.left, each.right] for each in config.contexts],
        "att_context_style": config.context_style,
    }  # fmt: skip
