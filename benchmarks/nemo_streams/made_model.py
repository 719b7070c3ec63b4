"""The benchmark's model in files: NeMo's archive for Earshot, exports of it for sherpa-onnx.

By itself it writes the archive into a folder, for `earshot bench ... -- --model`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.nemo_streams.in_process import Contest
from benchmarks.nemo_streams.peer_export import PeerFiles, export_apart
from benchmarks.nemo_streams.pieces import pieces_of
from benchmarks.nemo_streams.streaming_model import (
    SIZES,
    VOCABULARY,
    model_config,
    speaking_model,
)
from benchmarks.report import SHARED
from benchmarks.server.batching import clips
from earshot.training.student.nemo_archive import write_archive

HELD, FITTED = slice(16), slice(40, 56)
"""Recordings that labels are counted in, and others that the head is fitted to."""
MODEL = "model.nemo"


def made_model(folder: Path, size: str = "114m") -> Path:
    """The archive in a folder, of one of the `SIZES`; written where it is not yet: minutes."""
    path = folder / MODEL
    if not path.exists():
        recordings = [torch.from_numpy(samples) for samples in clips(FITTED.stop)]
        model = speaking_model(model_config(size), recordings[FITTED], recordings[HELD])
        lines = (SHARED / "speech" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]
        texts = [line.split("\t")[4] for line in lines]
        write_archive(path, model, pieces_of(texts, VOCABULARY))
    return path


def contests_of(folder: Path, rights: Sequence[int], peer_python: Path) -> list[Contest]:
    """The model in chunks of each right context, exported where it is not yet."""
    model, found = made_model(folder), []
    for right in rights:
        files = PeerFiles(folder / f"right-{right}")
        if not files.network("encoder", int8=True).exists():
            export_apart(model, files.folder, peer_python, right)
        found.append(Contest(model, files, right + 1))
    return found


def main() -> None:
    """Write the archive and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=SIZES, default="114m", help="millions of parameters")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(made_model(arguments.folder, arguments.size))


if __name__ == "__main__":
    main()
