"""Small NeMo archives: a configuration, random weights that fit it, and what spoils them."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from earshot.models.checkpoints.nemo.config import read_config
from earshot.models.fastconformer.model import FastConformerModel

MODULES = "nemo.collections.asr.modules."
LABELS = [" ", "a", "b", "c", "'"]
SIZE = 8

PREPROCESSOR: dict[str, Any] = {
    "_target_": MODULES + "AudioToMelSpectrogramPreprocessor",
    "sample_rate": 16000,
    "normalize": "per_feature",
    "window_size": 0.025,
    "window_stride": 0.01,
    "window": "hann",
    "features": 80,
    "n_fft": 512,
    "dither": 1.0e-05,
}
ENCODER: dict[str, Any] = {
    "_target_": MODULES + "ConformerEncoder",
    "feat_in": 80,
    "n_layers": 1,
    "d_model": SIZE,
    "subsampling": "striding",
    "n_heads": 2,
    "conv_kernel_size": 3,
}
CTC_DECODER: dict[str, Any] = {
    "_target_": MODULES + "ConvASRDecoder",
    "feat_in": SIZE,
    "num_classes": -1,
    "vocabulary": LABELS,
}
TRANSDUCER: dict[str, Any] = {
    "decoder": {
        "_target_": MODULES + "RNNTDecoder",
        "prednet": {"pred_hidden": 6, "pred_rnn_layers": 1, "dropout": 0.2},
        "vocab_size": len(LABELS),
    },
    "joint": {
        "_target_": MODULES + "RNNTJoint",
        "jointnet": {"joint_hidden": 7, "activation": "relu", "dropout": 0.2},
        "num_classes": len(LABELS),
        "vocabulary": LABELS,
    },
}


def options(kind: str, **changes: Any) -> dict[str, Any]:
    """A configuration of the class; `changes` are by dotted keys, with "__" for the dots."""
    found = {
        "target": f"nemo.collections.asr.models.{kind}",
        "sample_rate": 16000,
        "labels": LABELS,
        "preprocessor": PREPROCESSOR,
        "encoder": ENCODER,
    }
    if "CTC" in kind and "Hybrid" not in kind:
        found["decoder"] = CTC_DECODER
    else:
        found |= TRANSDUCER
    if "Hybrid" in kind:
        found["aux_ctc"] = {"decoder": CTC_DECODER}
    copy: dict[str, Any] = yaml.safe_load(yaml.safe_dump(found, sort_keys=False))
    for key, value in changes.items():
        # "decoder___target_" is "_target_" in "decoder": the first two of three are the dot.
        *path, last = re.split(r"__(?=_?[a-z])(?<!___)", key)
        section = copy
        for name in path:
            section = section.setdefault(name, {})
        section[last] = value
    return copy


OUR_NAMES = {
    "features.window": "preprocessor.featurizer.window",
    "features.filters": "preprocessor.featurizer.fb",
    "transducer.predictor.embed.": "decoder.prediction.embed.",
    "transducer.predictor.lstm.": "decoder.prediction.dec_rnn.lstm.",
    "transducer.joint.encoder.": "joint.enc.",
    "transducer.joint.predictor.": "joint.pred.",
    "transducer.joint.output.": "joint.joint_net.2.",
    "prompt.": "prompt_kernel.",
}


def weights(values: dict[str, Any]) -> dict[str, Tensor]:
    """Random weights of a configuration, by NeMo's names and in its shapes."""
    torch.manual_seed(0)
    ctc = "ctc_decoder.decoder_layers.0." if "aux_ctc" in values else "decoder.decoder_layers.0."
    names = OUR_NAMES | {"ctc.output.": ctc}
    found = {}
    for name, tensor in FastConformerModel(read_config(values)).state_dict().items():
        prefix = next((each for each in names if name.startswith(each)), "")
        theirs = names.get(prefix, "") + name.removeprefix(prefix)
        found[theirs] = tensor.clone()
    found["preprocessor.featurizer.fb"] = found["preprocessor.featurizer.fb"].T[None].contiguous()
    if ctc + "weight" in found:
        found[ctc + "weight"] = found[ctc + "weight"][:, :, None]
    return found


def saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def write_archive(
    path: Path,
    values: dict[str, Any],
    others: dict[str, bytes] | None = None,
    mode: str = "w:",
    tensors: dict[str, Tensor] | None = None,
) -> Path:
    """A .nemo of a configuration. others: members beside its two, or instead of them."""
    members = {
        "model_config.yaml": yaml.safe_dump(values, sort_keys=False).encode(),
        "model_weights.ckpt": saved(weights(values) if tensors is None else tensors),
    }
    write_tar(path, {f"./{name}": data for name, data in (members | (others or {})).items()}, mode)
    return path


def write_tar(path: Path, members: dict[str, bytes], mode: str = "w:") -> None:
    with tarfile.open(path, mode) as archive:
        archive.addfile(directory("."))
        for name, content in members.items():
            archive.addfile(member(name, len(content)), io.BytesIO(content))


def member(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> Any:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    info.mtime = 1.5  # makes Python write an extended header, as it does for NeMo
    return info


def directory(name: str) -> Any:
    return member(name, kind=tarfile.DIRTYPE)
