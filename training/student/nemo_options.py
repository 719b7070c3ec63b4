"""A model's configuration as NeMo writes it: what its constructors want, and what ours reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from earshot.models.fastconformer.config import FastConformerConfig, FastConformerModelConfig
from earshot.models.transducer_config import TransducerConfig

MODELS = "nemo.collections.asr.models."
TRANSDUCER = MODELS + "rnnt_bpe_models.EncDecRNNTBPEModel"
HYBRID = MODELS + "hybrid_rnnt_ctc_bpe_models.EncDecHybridRNNTCTCBPEModel"
MODULES = "nemo.collections.asr.modules."
RATE_HZ = 16_000


def nemo_options(
    config: FastConformerModelConfig,
    pieces: Sequence[str],
    model_name: str,
    ctc_weight: float | None = None,
) -> dict[str, Any]:
    """The mapping that stands in model_config.yaml, of an RNN-T in a causal encoder.

    model_name: of the archive's member with the pieces' sentencepiece model. ctc_weight: of the
    loss of a CTC head beside it, where there is one. Of what is for training only what NeMo cannot
    be without is there: nothing is dropped out, so that the joint's output is its second layer.
    """
    head = config.transducer
    assert head is not None
    assert config.encoder.causal_convolution
    assert config.encoder.normalise == "none"
    assert config.has_ctc == (ctc_weight is not None)
    labels = list(pieces)
    return {
        "target": TRANSDUCER if ctc_weight is None else HYBRID,
        "sample_rate": RATE_HZ,
        "model_defaults": {
            "enc_hidden": config.encoder.size,
            "pred_hidden": head.predictor_size,
            "joint_hidden": head.joint_size,
        },
        "tokenizer": {"type": "bpe", "model_path": f"nemo:{model_name}"},
        "preprocessor": _preprocessor(config.features.num_mel_bins),
        "encoder": _encoder(config.encoder),
        "decoder": _decoder(head),
        "joint": _joint(head, labels),
        "decoding": {"strategy": "greedy_batch", "greedy": {"max_symbols": head.max_symbols}},
        "loss": {"loss_name": "default"},
        **({} if ctc_weight is None else {"aux_ctc": _ctc(config, labels, ctc_weight)}),
    }


def _preprocessor(bins: int) -> dict[str, Any]:
    return {
        "_target_": MODULES + "AudioToMelSpectrogramPreprocessor",
        "sample_rate": RATE_HZ,
        "normalize": "NA",
        "window_size": 0.025,
        "window_stride": 0.01,
        "window": "hann",
        "features": bins,
        "n_fft": 512,
        "log": True,
        "frame_splicing": 1,
        "dither": 0.0,
        "pad_to": 0,
    }


def _encoder(config: FastConformerConfig) -> dict[str, Any]:
    return {
        "_target_": MODULES + "ConformerEncoder",
        "feat_in": config.features_size,
        "feat_out": -1,
        "n_layers": config.layers,
        "d_model": config.size,
        "use_bias": config.use_bias,
        "subsampling": config.subsampling,
        "subsampling_factor": config.subsampling_factor,
        "subsampling_conv_channels": config.stem_channels,
        "causal_downsampling": config.causal_stem,
        "ff_expansion_factor": config.feed_forward_size // config.size,
        "self_attention_model": "rel_pos",
        "n_heads": config.heads,
        "att_context_size": [[each.left, each.right] for each in config.contexts],
        "att_context_style": config.context_style,
        "xscaling": config.scale_input,
        "untie_biases": not config.shared_positions,
        "conv_kernel_size": config.kernel,
        "conv_norm_type": config.conv_norm,
        "conv_context_size": "causal",
        "dropout": 0.0,
        "dropout_pre_encoder": 0.0,
        "dropout_emb": 0.0,
        "dropout_att": 0.0,
    }


def _decoder(head: TransducerConfig) -> dict[str, Any]:
    return {
        "_target_": MODULES + "RNNTDecoder",
        "normalization_mode": None,
        "random_state_sampling": False,
        "blank_as_pad": True,
        "prednet": {
            "pred_hidden": head.predictor_size,
            "pred_rnn_layers": head.predictor_layers,
            "dropout": 0.0,
        },
        "vocab_size": head.vocab_size,
    }


def _joint(head: TransducerConfig, labels: list[str]) -> dict[str, Any]:
    return {
        "_target_": MODULES + "RNNTJoint",
        "log_softmax": None,
        "fuse_loss_wer": False,
        "jointnet": {
            "joint_hidden": head.joint_size,
            "activation": head.activation,
            "dropout": 0.0,
            "encoder_hidden": head.encoder_size,
            "pred_hidden": head.predictor_size,
        },
        "num_classes": head.vocab_size,
        "vocabulary": labels,
    }


def _ctc(config: FastConformerModelConfig, labels: list[str], weight: float) -> dict[str, Any]:
    return {
        "ctc_loss_weight": weight,
        "decoder": {
            "_target_": MODULES + "ConvASRDecoder",
            "feat_in": config.encoder.size,
            "num_classes": config.vocab_size,
            "vocabulary": labels,
        },
        "decoding": {"strategy": "greedy"},
    }
