"""Models of transformers with random weights at real sizes, in the folders that it writes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor, nn

HEADS = {
    "CTC": "ParakeetForCTC",
    "RNN-T": "ParakeetForRNNT",
    "TDT": "ParakeetForTDT",
    "streaming": "NemotronAsrStreamingForRNNT",
    "prompt": "Nemotron3_5AsrForRNNT",
}
"""Classes of transformers; each names the class of its configuration."""
STREAMING = ("streaming", "prompt")
PREDICTOR = 640
SEED = 20261127


@dataclass(frozen=True)
class Case:
    """A model: its head, D, layers, and V with the blank.

    mels: F. left, rights: of the contexts, in frames; none see all.
    """

    head: str
    size: int
    layers: int
    outputs: int
    mels: int = 80
    left: int = 0
    rights: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """In the table."""
        return f"{self.head}, D {self.size}, {self.layers} layers, V {self.outputs}"


def make_folder(case: Case, folder: Path) -> nn.Module:
    """A model of transformers, in evaluation, that is saved with its processor as well."""
    torch.manual_seed(SEED)
    network = getattr(transformers, HEADS[case.head])
    model = network(network.config_class(**_settings(case))).eval()
    with torch.no_grad():
        _randomise(model, case)
    model.save_pretrained(folder)
    _processor(case).save_pretrained(folder)
    return model


def _settings(case: Case) -> dict[str, Any]:
    encoder: dict[str, Any] = {
        "hidden_size": case.size,
        "num_hidden_layers": case.layers,
        "num_attention_heads": 8,
        "intermediate_size": 4 * case.size,
        "num_mel_bins": case.mels,
    }
    if case.head in STREAMING:
        encoder |= {
            "model_type": "nemotron_asr_streaming_encoder",
            "sliding_window": case.left + 1,
            "default_num_lookahead_tokens": case.rights[0],
        }
    blank = "pad_token_id" if case.head == "CTC" else "blank_token_id"
    head = {} if case.head == "CTC" else {"decoder_hidden_size": PREDICTOR}
    return {"vocab_size": case.outputs, blank: case.outputs - 1, "encoder_config": encoder, **head}


def _randomise(model: nn.Module, case: Case) -> None:
    """Weights that leave no two frames alike, and a blank that wins about half of them.

    By their default of 0.02 all frames of a narrow model would be nearly the same.
    """
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            spread = 0.5 if "bias_" in name else 1 / math.sqrt(weight[0].numel())
            weight.normal_(std=1.0 if "embedding" in name else spread)
        elif "norm" in name and name.endswith("weight"):
            weight.normal_(1.0, 0.1)
        else:
            weight.normal_(std=0.1)
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(std=0.1)
        if name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    _output_bias(model)[case.outputs - 1] = math.sqrt(2 * math.log(case.outputs)) - 0.5


def _output_bias(model: nn.Module) -> Tensor:
    head = model.ctc_head if hasattr(model, "ctc_head") else model.joint.head
    bias: Tensor = head.bias
    return bias


def _processor(case: Case) -> Any:
    blank = "<pad>" if case.head == "CTC" else "<blank>"
    tokenizer = transformers.ParakeetTokenizer(
        tokenizer_object=_pieces(case.outputs - 1),
        unk_token="<unk>",
        pad_token="<pad>" if case.head == "CTC" else "<unk>",
        extra_special_tokens=[] if case.head == "CTC" else [blank],
    )
    if case.head not in STREAMING:
        extractor = transformers.ParakeetFeatureExtractor(feature_size=case.mels)
        return transformers.ParakeetProcessor(extractor, tokenizer)
    told = case.head == "prompt"
    extractor = transformers.NemotronAsrStreamingFeatureExtractor(
        feature_size=case.mels, mel_filters_dtype="bfloat16" if told else "float32"
    )
    kind = "Nemotron3_5AsrProcessor" if told else "NemotronAsrStreamingProcessor"
    return getattr(transformers, kind)(
        extractor, tokenizer, supported_num_lookahead_tokens=list(case.rights)
    )


def _pieces(count: int) -> tokenizers.Tokenizer:
    """So many pieces, every third of which begins a word."""
    pieces = ["<unk>"]
    for number in range(1, count):
        letters = "".join(chr(97 + number // 26**place % 26) for place in range(3))
        pieces.append(("▁" if number % 3 == 0 else "") + letters)
    model = tokenizers.models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0)
    found = tokenizers.Tokenizer(model)
    found.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    found.decoder = tokenizers.decoders.Metaspace()
    return found
