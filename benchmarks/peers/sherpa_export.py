"""An Earshot model as sherpa-onnx reads it: ONNX in float32 and int8, and a table of tokens.

Runs in Earshot's environment, and takes onnx and onnxruntime out of the peer's, which therefore
wants the same version of Python: `python -m benchmarks.peers.sherpa_export OUT --peer-python FILE`.
"""

import argparse
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.peers.sherpa_network import WenetCtcChunk, conformer_of
from benchmarks.report import REPOSITORY
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.u2.u2 import U2Model

INPUTS = ("x", "offset", "required_cache_size", "attn_cache", "conv_cache", "attn_mask")
OUTPUTS = ("log_probs", "next_att_cache", "next_conv_cache")
OPSET = 17
MAX_DIFFERENCE = 1e-3
"""Between log-probabilities of the peer's network and of ours."""


@dataclass(frozen=True)
class SherpaFiles:
    """What an export leaves in its folder."""

    folder: Path

    @property
    def tokens(self) -> Path:
        """Symbols and their ids."""
        return self.folder / "tokens.txt"

    def network(self, int8: bool) -> Path:
        """The encoder and its CTC head."""
        return self.folder / ("model.int8.onnx" if int8 else "model.onnx")


def export_apart(
    model: Path, folder: Path, peer_python: Path, chunk: int, left_chunks: int
) -> SherpaFiles:
    """Export in a process of its own: the peer's libraries stay out of this one."""
    command = [
        sys.executable, "-m", "benchmarks.peers.sherpa_export", str(folder), "--model", str(model),
        "--peer-python", str(peer_python), "--chunk-size", str(chunk),
        "--num-left-chunks", str(left_chunks),
    ]  # fmt: skip
    subprocess.run(command, check=True, cwd=REPOSITORY)
    return SherpaFiles(folder)


def export(model_dir: Path, folder: Path, chunk: int, left_chunks: int) -> None:
    """Write all files. Raises NotExportable, and AssertionError where results differ."""
    folder.mkdir(parents=True, exist_ok=True)
    loaded, files = load_model(model_dir), SherpaFiles(folder)
    assert isinstance(loaded.model, U2Model)
    model = loaded.model.eval()
    network, first = WenetCtcChunk(model, chunk).eval(), first_chunk(model, chunk, left_chunks)
    with torch.inference_mode():
        expected = first_log_probs(model, first)
        _check("torch", network(*first)[0], expected)
    write_onnx(network, first, files.network(int8=False), described(model, chunk, left_chunks))
    _check("onnxruntime", _run(files.network(int8=False), first), expected)
    files.tokens.write_text(loaded.tokenizer.units.to_text(), encoding="utf-8")
    _quantize(files.network(int8=False), files.network(int8=True))
    _tell("onnxruntime, int8", _run(files.network(int8=True), first), expected)


def first_chunk(model: U2Model, chunk: int, left_chunks: int) -> tuple[Tensor, ...]:
    """INPUTS of a stream's first chunk, of random features."""
    encoder = conformer_of(model)
    config, cached = encoder.config, chunk * left_chunks
    layers, heads, size = config.num_blocks, config.attention_heads, config.output_size
    window = (chunk - 1) * encoder.subsampling_rate + encoder.right_context + 1
    seen = torch.arange(cached + chunk) >= cached
    return (
        torch.rand(1, window, config.input_dim),
        torch.tensor([cached]),
        torch.tensor([cached]),
        torch.zeros(layers, heads, cached, 2 * (size // heads)),
        torch.zeros(layers, 1, size, config.cnn_module_kernel - 1),
        seen[None, None],
    )


def first_log_probs(model: U2Model, first: tuple[Tensor, ...]) -> Tensor:
    """What Earshot's own encoder says of it: the peer's first frame is at `offset`, not at 0."""
    empty, offset = torch.zeros(0, 0, 0, 0), int(first[1])
    encoded, _, _ = conformer_of(model).forward_chunk(first[0], offset, offset, empty, empty)
    return model.ctc_log_probs(encoded)


def described(model: U2Model, chunk: int, left_chunks: int) -> dict[str, object]:
    """The metadata that the peer wants in the file."""
    encoder = conformer_of(model)
    config = encoder.config
    return {
        "model_type": "wenet_ctc", "version": "1", "model_author": "earshot",
        "comment": "streaming", "url": "", "chunk_size": chunk, "left_chunks": left_chunks,
        "head": config.attention_heads, "num_blocks": config.num_blocks,
        "output_size": config.output_size, "cnn_module_kernel": config.cnn_module_kernel,
        "right_context": encoder.right_context, "subsampling_factor": encoder.subsampling_rate,
        "vocab_size": model.config.vocab_size,
    }  # fmt: skip


def write_onnx(
    network: WenetCtcChunk, first: tuple[Tensor, ...], path: Path, metadata: dict[str, object]
) -> None:
    """Trace it on one chunk, whose shapes are those of all."""
    import onnx

    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # of torch's newer exporter, which wants onnxscript
        torch.onnx.export(
            network, first, str(path), opset_version=OPSET, dynamo=False,
            input_names=list(INPUTS), output_names=list(OUTPUTS),
        )  # fmt: skip
    graph = onnx.load(str(path))
    onnx.helper.set_model_props(graph, {name: str(value) for name, value in metadata.items()})
    onnx.save(graph, str(path))


def _run(path: Path, first: tuple[Tensor, ...]) -> Tensor:
    import onnxruntime

    named = {name: value.numpy() for name, value in zip(INPUTS, first, strict=True)}
    session: Any = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return torch.from_numpy(session.run(None, named)[0])


def _quantize(path: Path, quantized: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(path, quantized, op_types_to_quantize=["MatMul"], weight_type=QuantType.QInt8)


def _tell(what: str, found: Tensor, expected: Tensor) -> float:
    difference = float((found - expected).abs().max())
    print(f"first chunk in {what}: log-probabilities differ by {difference:.2g} at most")
    return difference


def _check(what: str, found: Tensor, expected: Tensor) -> None:
    difference = _tell(what, found, expected)
    assert difference < MAX_DIFFERENCE, f"{what} is another network"


def borrow_packages(peer_python: Path) -> None:
    """Let imports find what is in the peer's environment and not in ours."""
    asked = "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_path('purelib'))"
    answer = subprocess.run([peer_python, "-c", asked], check=True, capture_output=True, text=True)
    version, folder = answer.stdout.strip().rsplit(" ", 1)
    if version != str(sys.version_info[:2]):
        raise SystemExit(f"--peer-python is {version}, this is {sys.version_info[:2]}")
    sys.path.append(folder)


def main() -> None:
    """Export one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--peer-python", type=Path, required=True)
    parser.add_argument("--chunk-size", type=int, default=16)
    parser.add_argument("--num-left-chunks", type=int, default=4)
    arguments = parser.parse_args()
    borrow_packages(arguments.peer_python)
    torch.manual_seed(1)
    export(arguments.model, arguments.out, arguments.chunk_size, arguments.num_left_chunks)


if __name__ == "__main__":
    main()
