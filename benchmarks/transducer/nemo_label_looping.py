"""NeMo's own label looping (nemo_toolkit 3.0.0, PyPI) with the weights of a head of ours.

`INSTALL` brings what its decoders import, without NeMo's other requirements: packages that they
name but that greedy decoding never calls are hollow here. NeMo takes the logarithm of its softmax
at every evaluation on a CPU, as it does for whoever runs it there.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from benchmarks.transducer.decoding import Batch, Decode, Labels
from benchmarks.wfst.streams import NotRun
from earshot.models.transducer.transducer import Transducer

INSTALL = (
    "pip install --no-deps --target build/nemo nemo_toolkit==3.0.0 lightning==2.6.6 "
    "lightning-utilities torchmetrics hydra-core==1.3.2 omegaconf==2.3.0 "
    "antlr4-python3-runtime==4.9.3 wrapt onnx ml_dtypes protobuf"
)
ASR = "nemo.collections.asr"
LOOPING = f"{ASR}.parts.submodules.transducer_decoding"
HOLLOW = (
    ASR, f"{ASR}.models", f"{ASR}.modules", f"{ASR}.parts", f"{ASR}.parts.context_biasing",
    f"{ASR}.parts.submodules", f"{ASR}.parts.utils", "nemo.collections.common",
    "nemo.collections.common.parts", "nemo.collections.common.tokenizers",
    "nemo.lightning", "nemo.lightning.callback_group",
)  # fmt: skip
"""Packages whose own module would import most of NeMo."""


def nemo_label_looping(
    head: Transducer, folder: Path, device: str = "cpu", *, with_graphs: bool = False
) -> Decode:
    """A decoder with this head's weights, on the device that batches are on.

    with_graphs: CUDA graphs, of which NeMo takes one kind or none, as it finds the machine. Raises
    NotRun where `folder` does not hold NeMo.
    """
    nemo = _nemo(folder)
    networks = [each.to(device) for each in (_predictor(nemo, head), _joint(nemo, head))]
    computer = _computer(nemo, head, *networks, with_graphs=with_graphs)

    def decode(batch: Batch) -> list[Labels]:
        found = computer(batch.frames, torch.tensor(batch.lengths, device=device))[0]
        counts = found.current_lengths.tolist()
        tokens, frames = found.transcript.tolist(), found.timestamps.tolist()
        rows = zip(tokens, frames, counts, strict=True)
        return [Labels(said[:count], at[:count]) for said, at, count in rows]

    return decode


class _Hollow(ModuleType):
    """A package without its own module: its submodules are real, its classes do nothing."""

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            raise AttributeError(name)
        return type(name, (_Nothing,), {})


class _Nothing:
    """A class whose methods all do nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None

    @classmethod
    def get_instance(cls) -> _Nothing:
        """NeMo's way to ask for callbacks, of which there are none."""
        return cls()


def _nemo(folder: Path) -> SimpleNamespace:
    """The classes of NeMo that are used here."""
    if not (folder / "nemo").is_dir():
        raise NotRun(f"no NeMo in {folder}: {INSTALL}")
    if ASR not in sys.modules:  # the folder itself may be on the path from the start
        sys.path.append(str(folder))
        for name in HOLLOW:
            sys.modules[name] = package = _Hollow(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")))]
    try:
        networks = importlib.import_module(f"{ASR}.modules.rnnt")
        rnnt = importlib.import_module(f"{LOOPING}.rnnt_label_looping")
        tdt = importlib.import_module(f"{LOOPING}.tdt_label_looping")
    except ImportError as error:
        raise NotRun(f"NeMo does not import ({error}): {INSTALL}") from error
    return SimpleNamespace(
        Predictor=networks.RNNTDecoder,
        Joint=networks.RNNTJoint,
        Rnnt=rnnt.GreedyBatchedRNNTLabelLoopingComputer,
        Tdt=tdt.GreedyBatchedTDTLabelLoopingComputer,
    )


def _predictor(nemo: SimpleNamespace, head: Transducer) -> Any:
    config = head.config
    sizes = {"pred_hidden": config.predictor_size, "pred_rnn_layers": config.predictor_layers}
    theirs = nemo.Predictor(sizes, config.vocab_size).eval().requires_grad_(False)
    parts = theirs.prediction
    _copy(head.predictor.embed, parts["embed"])
    _copy(head.predictor.lstm, parts["dec_rnn"].lstm)
    return theirs


def _joint(nemo: SimpleNamespace, head: Transducer) -> Any:
    config = head.config
    sizes = {
        "encoder_hidden": config.encoder_size,
        "pred_hidden": config.predictor_size,
        "joint_hidden": config.joint_size,
        "activation": config.activation,
    }
    theirs = nemo.Joint(sizes, config.vocab_size, len(config.durations))
    theirs = theirs.eval().requires_grad_(False)
    _copy(head.joint.encoder, theirs.enc)
    _copy(head.joint.predictor, theirs.pred)
    _copy(head.joint.output, theirs.joint_net[-1])
    return theirs


def _copy(ours: torch.nn.Module, theirs: torch.nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())


def _computer(
    nemo: SimpleNamespace, head: Transducer, predictor: Any, joint: Any, *, with_graphs: bool
) -> Any:
    config = head.config
    told: dict[str, Any] = {"durations": list(config.durations)} if config.durations else {}
    return (nemo.Tdt if told else nemo.Rnnt)(
        predictor,
        joint,
        config.blank_id,
        max_symbols_per_step=config.max_symbols,
        allow_cuda_graphs=with_graphs,
        **told,
    )
