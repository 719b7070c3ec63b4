"""Make the golden data of this folder from larger data: ``python make_fixtures.py SHARED``.

SHARED holds ``golden/wenet``, outputs of the real WeNet code, and ``speech``, transcribed English.
Numbers are taken over as they are; what is left out says README.md.
"""

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from kept_frames import kept_frames
from packed_folder import pack

from earshot.training.corpus.put_aside import read_dev_speech
from earshot.training.corpus.utterance import Utterance

HERE = Path(__file__).resolve().parent
MODELS = (
    "u2pp_conformer",
    "variants/transformer_abspos_kaldicmvn",
    "variants/offline_conformer_bn",
    "variants/conv2d6_bn_k8_transformerdec_era2",
)
SEARCHED_STREAM = "c4_l4"
"""The one setting whose searches and encoder outputs are kept whole."""
FRAME_DIMS = {
    r"A_after_embed|A_pos_emb|A_layer\d+_out|batch_full": 1,
    r"masked_\w+-?\d+_A": 1,
    rf"stream_(?!{SEARCHED_STREAM}_)c\d+_l-?\d+_[AB](_ctc_logp)?": 1,
    r"(stream_\S+|step_out)_att_cache(_\d+)?": 2,
    r"(stream_\S+|step_out)_cnn_cache(_\d+)?": 3,
}
"""Names of expected values, of which some frames are enough, and where their frames are."""
CORPUS = "librispeech"
CLIPS_PER_READER = 2
SHORTEST_S = 2.6


def copy_model(source: Path, target: Path) -> None:
    """A WeNet model directory with what its code made of the recordings."""
    target.mkdir(parents=True)
    for name in ("train.yaml", "units.txt", "global_cmvn"):
        shutil.copyfile(source / name, target / name)
    copy_weights(source / "final.pt", target / "final.pt")
    with np.load(source / "golden.npz") as arrays:
        np.savez(target / "golden.npz", **{name: cut(name, arrays[name]) for name in arrays})
    meta = json.loads((source / "golden_meta.json").read_text())
    del meta["state_dict_keys"]
    write_json(target / "golden_meta.json", meta)
    if (source / "golden_search.json").exists():
        search = json.loads((source / "golden_search.json").read_text())
        kept = {name: found for name, found in search.items() if is_kept_search(name)}
        write_json(target / "golden_search.json", kept)


def copy_weights(source: Path, target: Path) -> None:
    """Without tables of positions, two thirds of a small model, which nobody reads."""
    weights = torch.load(source, weights_only=True)
    tables = [name for name in weights if name.endswith(".pe")]
    for name in tables:
        del weights[name]
    if tables:
        torch.save(weights, target)
    else:
        shutil.copyfile(source, target)


def cut(name: str, array: np.ndarray) -> np.ndarray:
    """Inputs whole; of outputs some frames."""
    for pattern, dim in FRAME_DIMS.items():
        if re.fullmatch(pattern, name) and array.ndim > dim:
            return kept_frames(torch.from_numpy(array), dim).numpy()
    return array


def is_kept_search(name: str) -> bool:
    """Of whole utterances, of one stream's setting, and the traces of boosts."""
    return name == "context_graph" or name.startswith(("full", SEARCHED_STREAM))


def write_json(path: Path, content: Any) -> None:
    """Readable, and the same bytes each time."""
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def copy_wenet(source: Path, target: Path) -> None:
    """All model directories, the features and the recordings."""
    with tempfile.TemporaryDirectory() as folder:
        gathered = Path(folder)
        for name in MODELS:
            copy_model(source / name, gathered / name)
        with np.load(source / "features.npz") as arrays:
            np.savez(gathered / "features.npz", **arrays)
        shutil.copytree(source / "wavs", gathered / "wavs")
        pack(gathered, target)


def chosen_clips(manifest: Path) -> Iterator[Utterance]:
    """Short ones of each reader that no measurement has put aside."""
    readers: dict[str, list[Utterance]] = {}
    for each in read_dev_speech(manifest):
        if each.corpus == CORPUS and each.seconds >= SHORTEST_S:
            readers.setdefault(each.speaker, []).append(each)
    for reader in sorted(readers):
        yield from sorted(readers[reader], key=lambda each: each.seconds)[:CLIPS_PER_READER]


def copy_speech(source: Path, target: Path) -> None:
    """Clips with a manifest of the same columns."""
    target.mkdir()
    rows = ["path\tcorpus\tspeaker\tseconds\ttext"]
    for each in chosen_clips(source / "dev.tsv"):
        shutil.copyfile(each.path, target / each.path.name)
        columns = (each.path.name, each.corpus, each.speaker, f"{each.seconds:.3f}", each.text)
        rows.append("\t".join(columns))
    (target / "dev.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def main() -> None:
    """Make both folders anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder of golden/wenet and speech")
    shared = parser.parse_args().shared
    for name in ("wenet", "speech"):
        shutil.rmtree(HERE / name, ignore_errors=True)
    copy_wenet(shared / "golden" / "wenet", HERE / "wenet")
    copy_speech(shared / "speech", HERE / "speech")


if __name__ == "__main__":
    main()
