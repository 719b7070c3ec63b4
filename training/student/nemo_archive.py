"""A FastConformer with an RNN-T as a .nemo archive: configuration, weights, pieces in one tar."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from earshot.models.checkpoints.nemo.archive import CONFIG, WEIGHTS
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.tokenizers.sentencepiece import SentencePieceTokenizer
from earshot.training.errors import NoPlace
from earshot.training.files.output_folder import make_folder
from earshot.training.student.nemo_options import nemo_options

SUFFIX = ".nemo"
PIECES = "tokenizer.model"
FILTERS, CTC_WEIGHT = "preprocessor.featurizer.fb", "ctc_decoder.decoder_layers.0.weight"
NAMES = (
    (re.compile(r"features\.window"), "preprocessor.featurizer.window"),
    (re.compile(r"features\.filters"), FILTERS),
    (re.compile(r"(encoder\..+)"), r"\1"),
    (re.compile(r"transducer\.predictor\.(embed\..+)"), r"decoder.prediction.\1"),
    (re.compile(r"transducer\.predictor\.(lstm\..+)"), r"decoder.prediction.dec_rnn.\1"),
    (re.compile(r"transducer\.joint\.encoder\.(.+)"), r"joint.enc.\1"),
    (re.compile(r"transducer\.joint\.predictor\.(.+)"), r"joint.pred.\1"),
    (re.compile(r"transducer\.joint\.output\.(.+)"), r"joint.joint_net.1.\1"),
    (re.compile(r"ctc\.output\.(.+)"), r"ctc_decoder.decoder_layers.0.\1"),
)


def archive_place(output: Path, name: str) -> Path:
    """The archive that `output` names: itself, or in a folder that is made, one called `name`.

    Raises NoPlace, also for a folder with another archive, which nobody could tell apart.
    """
    if output.suffix == SUFFIX:
        make_folder(output.parent)
        return output
    path = make_folder(output) / f"{name}{SUFFIX}"
    others = sorted(each.name for each in output.glob(f"*{SUFFIX}") if each != path)
    if others:
        raise NoPlace(f"{output} holds another archive: {', '.join(others)}")
    return path


def write_archive(
    path: Path,
    model: FastConformerModel,
    tokenizer: SentencePieceTokenizer,
    ctc_weight: float | None = None,
) -> None:
    """Writes the archive whole or not at all. ctc_weight: of a CTC head's loss, as NeMo is told.

    Raises NoPlace.
    """
    options = nemo_options(model.config, tokenizer.units.symbols, PIECES, ctc_weight)
    members = {
        CONFIG: yaml.safe_dump(options, sort_keys=False, allow_unicode=True).encode(),
        WEIGHTS: _saved(nemo_tensors(model.state_dict())),
        PIECES: tokenizer.proto,
    }
    partial = path.with_name(path.name + ".partial")
    try:
        _write_tar(partial, members)
        partial.replace(path)
    except OSError as error:
        raise NoPlace(f"cannot write {path}: {error.strerror}") from error


def nemo_tensors(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors of a model by NeMo's names, in its shapes."""
    named = {_theirs(name): each.detach().cpu() for name, each in weights.items()}
    named[FILTERS] = named[FILTERS].T.unsqueeze(0)
    if CTC_WEIGHT in named:
        named[CTC_WEIGHT] = named[CTC_WEIGHT].unsqueeze(2)
    return {name: each.contiguous() for name, each in named.items()}


def _theirs(name: str) -> str:
    matches = ((pattern.fullmatch(name), theirs) for pattern, theirs in NAMES)
    return next(match.expand(theirs) for match, theirs in matches if match)


def _saved(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _write_tar(path: Path, members: Mapping[str, bytes]) -> None:
    with tarfile.open(path, "w:") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
