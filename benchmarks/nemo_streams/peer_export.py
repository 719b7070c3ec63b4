"""A streaming transducer as sherpa-onnx reads it: three ONNX files in float32 and in int8, tokens.

Runs in Earshot's environment, and takes onnx and onnxruntime out of the peer's, which therefore
wants the same version of Python:
`python -m benchmarks.nemo_streams.peer_export OUT --model FILE --right 13 --peer-python FILE`.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.nemo_streams.peer_check import (
    CHANNEL,
    INPUTS,
    OUTPUTS,
    TIME,
    check,
    first_chunk,
)
from benchmarks.nemo_streams.peer_network import PeerEncoder, PeerJoint, PeerPredictor
from benchmarks.peers.sherpa_export import OPSET, borrow_packages
from benchmarks.report import REPOSITORY
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.fastconformer.config import AttentionContext
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.transducer.transducer import Transducer

PREDICTOR = (
    ("targets", "target_length", "states.1", "states.2"),
    ("outputs", "prednet_lengths", "states_next.1", "states_next.2"),
)
JOINT = (("encoder_outputs", "decoder_outputs"), ("outputs",))
TIMES = {
    "audio_signal": 2, "outputs": 2, CHANNEL: 2, f"{CHANNEL}_next": 2, TIME: 3, f"{TIME}_next": 3,
}  # fmt: skip
"""Axes of the encoder's files that have any length, as in NeMo's: nothing is folded over them."""
BLANK = "<blk>"


@dataclass(frozen=True)
class PeerFiles:
    """What an export leaves in its folder."""

    folder: Path

    @property
    def tokens(self) -> Path:
        """Symbols and their ids."""
        return self.folder / "tokens.txt"

    def network(self, name: str, int8: bool) -> Path:
        """One of encoder, decoder and joiner."""
        return self.folder / f"{name}{'.int8' if int8 else ''}.onnx"

    def flags(self, int8: bool) -> list[str]:
        """The files by their names as arguments."""
        named = [
            f"--{name}={self.network(name, int8)}" for name in ("encoder", "decoder", "joiner")
        ]
        return [f"--tokens={self.tokens}", *named]


def export_apart(model: Path, folder: Path, peer_python: Path, right: int) -> PeerFiles:
    """Export in a process of its own: the peer's libraries stay out of this one."""
    command = [
        sys.executable, "-m", "benchmarks.nemo_streams.peer_export", str(folder), "--model",
        str(model), "--peer-python", str(peer_python), "--right", str(right),
    ]  # fmt: skip
    subprocess.run(command, check=True, cwd=REPOSITORY)
    return PeerFiles(folder)


def export(path: Path, folder: Path, right: int) -> None:
    """Write all files. Raises NotStreamable, and AssertionError where frames differ."""
    folder.mkdir(parents=True, exist_ok=True)
    loaded, files = load_model(path), PeerFiles(folder)
    assert isinstance(loaded.model, FastConformerModel)
    assert loaded.model.transducer is not None
    model, head = loaded.model.eval().requires_grad_(False), loaded.model.transducer
    network = PeerEncoder(model.encoder, context_of(model, right)).eval()
    symbols = [*loaded.tokenizer.units.symbols, BLANK]
    lines = (f"{symbol} {unit}\n" for unit, symbol in enumerate(symbols))
    files.tokens.write_text("".join(lines), encoding="utf-8")
    write_encoder(network, files.network("encoder", int8=False), described(model, network))
    write_head(head, files)
    for name in ("encoder", "decoder", "joiner"):
        _quantize(files.network(name, int8=False), files.network(name, int8=True))
    for int8 in (False, True):
        check(network, files.network("encoder", int8), rounded=int8)


def context_of(model: FastConformerModel, right: int) -> AttentionContext:
    """The context of the model with so much on the right."""
    return next(each for each in model.config.encoder.contexts if each.right == right)


def described(model: FastConformerModel, network: PeerEncoder) -> dict[str, object]:
    """The metadata that the peer wants in the encoder's file."""
    config, head = model.config.encoder, model.config.transducer
    assert head is not None
    return {
        "model_type": "EncDecHybridRNNTCTCBPEModel", "version": "1", "model_author": "earshot",
        "url": "", "comment": "random weights", "normalize_type": "",
        "vocab_size": head.vocab_size, "window_size": network.window,
        "chunk_shift": network.shift, "subsampling_factor": config.subsampling_factor,
        "pred_rnn_layers": head.predictor_layers, "pred_hidden": head.predictor_size,
        "cache_last_channel_dim1": config.layers, "cache_last_channel_dim2": network.left,
        "cache_last_channel_dim3": config.size, "cache_last_time_dim1": config.layers,
        "cache_last_time_dim2": config.size, "cache_last_time_dim3": config.kernel - 1,
    }  # fmt: skip


def write_encoder(network: PeerEncoder, path: Path, metadata: dict[str, object]) -> None:
    """The encoder, of any number of streams."""
    import onnx

    features = torch.rand(network.window, network.encoder.config.features_size)
    batches = {name: {0: "batch"} for name in (*INPUTS, *OUTPUTS)}
    for name, axis in TIMES.items():
        batches[name][axis] = f"{name}_time"
    _write(network, first_chunk(network, features), path, (INPUTS, OUTPUTS), batches)
    graph = onnx.load(str(path))
    onnx.helper.set_model_props(graph, {name: str(value) for name, value in metadata.items()})
    onnx.save(graph, str(path))


def write_head(head: Transducer, files: PeerFiles) -> None:
    """Predictor and joint."""
    config = head.config
    state = torch.zeros(config.predictor_layers, 1, config.predictor_size)
    label = torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, dtype=torch.int32)
    of_label = {"targets": {0: "batch"}, "target_length": {0: "batch"}}
    path = files.network("decoder", int8=False)
    _write(PeerPredictor(head), (*label, state, state), path, PREDICTOR, of_label)
    at_one = torch.zeros(1, config.encoder_size, 1), torch.zeros(1, config.predictor_size, 1)
    of_frame = {"encoder_outputs": {0: "batch", 2: "frames"}}
    _write(PeerJoint(head), at_one, files.network("joiner", int8=False), JOINT, of_frame)


def _write(
    network: nn.Module,
    given: tuple[Tensor, ...],
    path: Path,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    axes: dict[str, dict[int, str]],
) -> None:
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # of sizes that a trace takes for constant
        torch.onnx.export(
            network.eval(), given, str(path), opset_version=OPSET, dynamo=False,
            input_names=list(names[0]), output_names=list(names[1]), dynamic_axes=axes,
        )  # fmt: skip


def _quantize(path: Path, quantized: Path) -> None:
    """By default all that onnxruntime can, as the peer's scripts do it for models of NeMo."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable(logging.WARNING)  # a line for each shape that it does not infer
    quantize_dynamic(path, quantized, weight_type=QuantType.QUInt8)
    logging.disable(logging.NOTSET)


def main() -> None:
    """Export one model in one context."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--right", type=int, required=True, help="frames of the right context")
    arguments = parser.parse_args()
    borrow_packages(arguments.peer_python)
    torch.manual_seed(1)
    export(arguments.model, arguments.out, arguments.right)


if __name__ == "__main__":
    main()
