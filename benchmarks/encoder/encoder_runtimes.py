"""An encoder's step in other runtimes: what `encoder_step.py` compares ours with."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.export import Dim

from earshot.models.u2.encoder import Encoder
from earshot.models.u2.lanes import LaneStep, advance_layer, with_room

Stepper: TypeAlias = Callable[..., Any]
"""`Blocks`, as some runtime runs it."""


class Blocks(nn.Module):
    """The step as a function of tensors alone, all lanes of the same length."""

    def __init__(self, encoder: Encoder, frames: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.frames = frames

    def forward(
        self, feats: Tensor, offset: Tensor, mask: Tensor, att_cache: Tensor, cnn_cache: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Caches (B, L, h, C, W), (B, L, k - 1, D) to frames (B, T, D), columns, next cnn_cache."""
        encoder, frames = self.encoder, self.frames
        x = encoder.embed_features(feats, offset)
        positions = encoder.key_positions(torch.arange(frames) + offset.unsqueeze(1))
        step = LaneStep(offset, mask, positions, ragged=False)
        att_columns, cnn_caches = [], []
        for i, layer in enumerate(encoder.layers):
            att, cnn = with_room(att_cache[:, i], frames), with_room(cnn_cache[:, i], frames)
            x = advance_layer(layer, x, step, att, cnn)
            att_columns.append(att[:, :, -frames:])
            cnn_caches.append(cnn[:, frames:])
        return encoder.after_norm(x), torch.stack(att_columns, 1), torch.stack(cnn_caches, 1)


def compiled(blocks: Blocks, inputs: tuple[Tensor, ...], folder: Path) -> Stepper:
    """Ahead of time by torch's own compiler and g++, for this shape, with the weights packed."""
    program = torch.export.export(blocks, inputs)
    package = torch._inductor.aoti_compile_and_package(
        program,
        package_path=str(folder / "compiled.pt2"),
        inductor_configs={"freezing": True},
    )
    loaded: Stepper = torch._inductor.aoti_load_package(package)
    return loaded


def in_onnxruntime(blocks: Blocks, inputs: tuple[Tensor, ...], folder: Path) -> Stepper:
    """Any number of lanes and columns."""
    onnxruntime = importlib.import_module("onnxruntime")
    path, lanes, columns = folder / "encoder.onnx", Dim("lanes"), Dim("columns", min=2)
    names = ["feats", "offset", "mask", "att_cache", "cnn_cache"]
    sizes = {0: lanes}, {0: lanes}, {0: lanes, 3: columns + blocks.frames}, {0: lanes, 3: columns}
    torch.onnx.export(
        blocks, inputs, path, input_names=names,
        dynamic_shapes=(*sizes, {0: lanes}), verbose=False,
    )  # fmt: skip
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted = [each.name for each in session.get_inputs()]

    def run(*inputs: Tensor) -> list[Tensor]:
        given = dict(zip(names, (tensor.numpy() for tensor in inputs), strict=True))
        return [torch.from_numpy(each) for each in session.run(None, {n: given[n] for n in wanted})]

    return run
