"""Small folders as transformers 5.24 writes them, of random weights."""

import json
from pathlib import Path
from typing import Any

import safetensors.torch
import tokenizers
import torch
from torch import Tensor

SIZE, INNER, MELS, CHANNELS, LABELS, HIDDEN = 16, 24, 16, 4, 6, 12
PIECES = ["<unk>", "▁a", "b", "▁", "<en-US>", "▁ab"]
SHARD = "model-0000{}-of-00002.safetensors"

ENCODER = {
    "attention_bias": True,
    "conv_kernel_size": 5,
    "convolution_bias": True,
    "dropout": 0.1,
    "hidden_act": "silu",
    "hidden_size": SIZE,
    "intermediate_size": INNER,
    "max_position_embeddings": 5000,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "num_key_value_heads": 2,
    "num_mel_bins": MELS,
    "scale_input": True,
    "subsampling_conv_channels": CHANNELS,
    "subsampling_conv_kernel_size": 3,
    "subsampling_conv_stride": 2,
    "subsampling_factor": 8,
}
STREAMS = {"sliding_window": 29, "default_num_lookahead_tokens": 13}
HEAD = {
    "blank_token_id": LABELS,
    "decoder_hidden_size": HIDDEN,
    "hidden_act": "relu",
    "max_symbols_per_step": 10,
    "num_decoder_layers": 2,
    "pad_token_id": 0,
}
PROMPT = {"num_prompts": 8, "prompt_intermediate_size": 20, "default_prompt_id": 5}
CONFIGS: dict[str, dict[str, Any]] = {
    "parakeet_ctc": {"pad_token_id": LABELS, "encoder_config": ENCODER},
    "parakeet_rnnt": {**HEAD, "encoder_config": ENCODER},
    "parakeet_tdt": {**HEAD, "encoder_config": ENCODER, "durations": [0, 1, 2]},
    "nemotron_asr_streaming": {**HEAD, "encoder_config": ENCODER | STREAMS},
    "nemotron3_5_asr": {**HEAD, **PROMPT, "encoder_config": ENCODER | STREAMS},
}
for _name, _config in CONFIGS.items():
    _config |= {"model_type": _name, "vocab_size": LABELS + 1, "transformers_version": "5.24.0"}

EXTRACTOR = {
    "feature_size": MELS,
    "hop_length": 160,
    "n_fft": 512,
    "preemphasis": 0.97,
    "sampling_rate": 16000,
    "win_length": 400,
}
PARAKEET = {"feature_extractor": EXTRACTOR | {"feature_extractor_type": "ParakeetFeatureExtractor"}}
NEMOTRON = {
    "default_num_lookahead_tokens": 1,
    "supported_num_lookahead_tokens": [13, 6, 1, 0],
    "feature_extractor": EXTRACTOR
    | {
        "feature_extractor_type": "NemotronAsrStreamingFeatureExtractor",
        "mel_filters_dtype": "bfloat16",
    },
}
PROCESSORS: dict[str, dict[str, Any]] = {
    "parakeet_ctc": PARAKEET,
    "parakeet_rnnt": PARAKEET,
    "parakeet_tdt": PARAKEET,
    "nemotron_asr_streaming": NEMOTRON,
    "nemotron3_5_asr": NEMOTRON
    | {"prompt_dictionary": {"en-US": 0, "de": 3, "auto": 5, "enGB": 1}},
}


def write_hugging_face(folder: Path, kind: str) -> Path:
    """A whole folder of a model_type, its weights in one file."""
    folder.mkdir(parents=True)
    write_json(folder / "config.json", CONFIGS[kind])
    write_json(folder / "processor_config.json", PROCESSORS[kind])
    write_json(folder / "generation_config.json", {"transformers_version": "5.24.0"})
    pieces().save(str(folder / "tokenizer.json"))
    safetensors.torch.save_file(random_weights(kind), folder / "model.safetensors")
    return folder


def write_shards(folder: Path) -> None:
    """Its one file of weights as two and an index."""
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    places = {name: SHARD.format(1 + (name > names[9])) for name in names}
    for shard in set(places.values()):
        held = {name: weights[name] for name in names if places[name] == shard}
        safetensors.torch.save_file(held, folder / shard)
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": places})


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2))


def pieces() -> tokenizers.Tokenizer:
    """PIECES, and what stands behind them: the blank."""
    model = tokenizers.models.Unigram([(piece, -1.0) for piece in PIECES], unk_id=0)
    found = tokenizers.Tokenizer(model)
    found.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    found.decoder = tokenizers.decoders.Metaspace()
    found.add_special_tokens(["<unk>", "<pad>"])
    return found


def random_weights(kind: str) -> dict[str, Tensor]:
    """All tensors of a model_type under transformers' names."""
    generator = torch.Generator().manual_seed(7)
    shapes = _shapes(kind)
    return {name: 0.1 * torch.rand(shape, generator=generator) for name, shape in shapes.items()}


def _shapes(kind: str) -> dict[str, tuple[int, ...]]:
    streams = kind.startswith("nemotron")
    return _stem(streams) | _layer(streams) | _head(kind)


def _stem(streams: bool) -> dict[str, tuple[int, ...]]:
    first, second, third = (
        ("conv_in", "layers.0.{}_conv", "layers.1.{}_conv")
        if streams
        else ("layers.0", "layers.{}", "layers.{}")
    )
    names = [first]
    for stage, places in ((second, (2, 3)), (third, (5, 6))):
        parts = ("depthwise", "pointwise") if streams else places
        names += [stage.format(part) for part in parts]
    shapes: dict[str, tuple[int, ...]] = {}
    for index, name in enumerate(names):
        point = index in (2, 4)
        inputs = CHANNELS if point else 1
        kernel = 1 if point else 3
        shapes[f"{name}.weight"] = (CHANNELS, inputs, kernel, kernel)
        shapes[f"{name}.bias"] = (CHANNELS,)
    bins = 3 if streams else 2  # of 16: causal stages pad frequencies too
    shapes |= _linear("linear", CHANNELS * bins, SIZE)
    return {f"encoder.subsampling.{name}": shape for name, shape in shapes.items()}


def _layer(streams: bool) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "self_attn.bias_u": (2, SIZE // 2),
        "self_attn.bias_v": (2, SIZE // 2),
        "self_attn.relative_k_proj.weight": (SIZE, SIZE),
        "conv.pointwise_conv1.weight": (2 * SIZE, SIZE, 1),
        "conv.pointwise_conv1.bias": (2 * SIZE,),
        "conv.depthwise_conv.weight": (SIZE, 1, 5),
        "conv.depthwise_conv.bias": (SIZE,),
        "conv.pointwise_conv2.weight": (SIZE, SIZE, 1),
        "conv.pointwise_conv2.bias": (SIZE,),
    }
    for part in "qkvo":
        shapes |= _linear(f"self_attn.{part}_proj", SIZE, SIZE)
    for number in "12":
        shapes |= _linear(f"feed_forward{number}.linear1", SIZE, INNER)
        shapes |= _linear(f"feed_forward{number}.linear2", INNER, SIZE)
    norms = ("feed_forward1", "self_att", "conv", "feed_forward2", "out")
    for norm in (*(f"norm_{name}" for name in norms), "conv.norm"):
        shapes |= {f"{norm}.weight": (SIZE,), f"{norm}.bias": (SIZE,)}
    if not streams:
        shapes |= {"conv.norm.running_mean": (SIZE,), "conv.norm.running_var": (SIZE,)}
        shapes["conv.norm.num_batches_tracked"] = ()
    return {f"encoder.layers.0.{name}": shape for name, shape in shapes.items()}


def _head(kind: str) -> dict[str, tuple[int, ...]]:
    if kind == "parakeet_ctc":
        return {"ctc_head.weight": (LABELS + 1, SIZE, 1), "ctc_head.bias": (LABELS + 1,)}
    shapes: dict[str, tuple[int, ...]] = {"decoder.embedding.weight": (LABELS + 1, HIDDEN)}
    for layer in range(2):
        for side in ("ih", "hh"):
            shapes[f"decoder.lstm.weight_{side}_l{layer}"] = (4 * HIDDEN, HIDDEN)
            shapes[f"decoder.lstm.bias_{side}_l{layer}"] = (4 * HIDDEN,)
    shapes |= _linear("encoder_projector", SIZE, HIDDEN)
    shapes |= _linear("decoder.decoder_projector", HIDDEN, HIDDEN)
    durations = 3 if kind == "parakeet_tdt" else 0
    shapes |= _linear("joint.head", HIDDEN, LABELS + 1 + durations)
    if kind == "nemotron3_5_asr":
        shapes |= _linear("prompt_projector.linear_1", SIZE + 8, 20)
        shapes |= _linear("prompt_projector.linear_2", 20, SIZE)
    return shapes


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
