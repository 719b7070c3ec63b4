"""The config.json of transformers: what is read, and what is refused by name."""

import copy
from typing import Any

import pytest
import torch
from hugging_face_writer import CONFIGS, ENCODER, LABELS, MELS, PROCESSORS

from earshot.models.checkpoints.nemo.hugging_face_config import read_config
from earshot.models.errors import CheckpointError, ConfigError
from earshot.models.fastconformer.config import AttentionContext, PromptConfig


def changed(kind: str, **keys: object) -> dict[str, Any]:
    """A configuration with other values; those of `encoder_config` and of its own by name."""
    config = copy.deepcopy(CONFIGS[kind])
    for key, value in keys.items():
        section = config["encoder_config"] if key in ENCODER or key == "head_dim" else config
        section[key] = value
    return config


def extractor(**keys: object) -> dict[str, Any]:
    processor = copy.deepcopy(PROCESSORS["nemotron_asr_streaming"])
    processor["feature_extractor"] |= keys
    return processor


def test_a_ctc_model():
    found = read_config(CONFIGS["parakeet_ctc"], PROCESSORS["parakeet_ctc"])
    model, encoder = found.model, found.model.encoder
    assert (model.vocab_size, model.has_ctc, model.transducer, model.prompt) == (
        LABELS, True, None, None,
    )  # fmt: skip
    assert (encoder.normalise, encoder.conv_norm, encoder.kernel) == (
        "per_feature",
        "batch_norm",
        5,
    )
    assert encoder.contexts == (AttentionContext(),)
    assert (model.features.kind, model.features.num_mel_bins) == ("nemo", MELS)
    assert found.features.precision is torch.float32


def test_a_transducer_and_one_with_durations():
    plain = read_config(CONFIGS["parakeet_rnnt"], {}).model.transducer
    assert plain is not None
    assert (plain.predictor_layers, plain.joint_size, plain.activation) == (2, 12, "relu")
    assert plain.durations == ()
    timed = read_config(CONFIGS["parakeet_tdt"], {}).model.transducer
    assert timed is not None
    assert (timed.durations, timed.num_outputs) == ((0, 1, 2), LABELS + 4)


def test_a_streaming_model_has_the_processors_contexts_its_default_first():
    found = read_config(CONFIGS["nemotron_asr_streaming"], PROCESSORS["nemotron_asr_streaming"])
    encoder = found.model.encoder
    assert encoder.contexts == tuple(AttentionContext(28, right) for right in (1, 13, 6, 0))
    assert (encoder.context_style, encoder.normalise) == ("chunked_limited", "none")
    assert (encoder.causal_stem, encoder.causal_convolution) == (True, True)
    assert encoder.conv_norm == "layer_norm"
    assert found.features.precision is torch.bfloat16


def test_without_a_processor_there_is_the_models_own_context():
    encoder = read_config(CONFIGS["nemotron_asr_streaming"], {}).model.encoder
    assert encoder.contexts == (AttentionContext(28, 13),)
    assert encoder.normalise == "none"


def test_a_prompt_knows_the_processors_languages():
    found = read_config(CONFIGS["nemotron3_5_asr"], PROCESSORS["nemotron3_5_asr"]).model
    assert found.prompt == PromptConfig(8, 20, {"auto": 5, "en-US": 0, "de": 3, "enGB": 1})
    alone = read_config(CONFIGS["nemotron3_5_asr"], {}).model
    assert alone.prompt == PromptConfig(8, 20, {"auto": 5})


@pytest.mark.parametrize("model_type", ["whisper", None, 3, ["parakeet_ctc"], "parakeet_encoder"])
def test_another_models_folder_is_told_which_there_are(model_type):
    with pytest.raises(CheckpointError, match=r"none of parakeet_ctc, parakeet_rnnt, parakeet_tdt"):
        read_config({"model_type": model_type}, {})


@pytest.mark.parametrize(
    ("kind", "keys", "named"),
    [
        ("parakeet_ctc", {"pad_token_id": 2}, "pad_token_id is 2, not 6"),
        ("parakeet_rnnt", {"blank_token_id": 0}, "blank_token_id is 0, not 6"),
        ("parakeet_rnnt", {"blank_token_id": None}, "blank_token_id"),
        ("parakeet_ctc", {"vocab_size": "7"}, "vocab_size"),
        ("parakeet_ctc", {"vocab_size": 10**9, "pad_token_id": 10**9 - 1}, "vocab_size"),
        ("parakeet_ctc", {"hidden_act": "gelu"}, "encoder_config.hidden_act"),
        ("parakeet_ctc", {"convolution_bias": False}, "encoder_config.convolution_bias"),
        ("parakeet_ctc", {"subsampling_conv_kernel_size": 5}, "subsampling_conv_kernel_size"),
        ("parakeet_ctc", {"subsampling_conv_stride": 1}, "subsampling_conv_stride"),
        ("parakeet_ctc", {"subsampling_factor": 5}, "subsampling_factor"),
        ("parakeet_ctc", {"num_key_value_heads": 1}, "num_key_value_heads"),
        ("parakeet_ctc", {"num_attention_heads": 0}, "heads"),
        ("parakeet_ctc", {"head_dim": 4}, "head_dim"),
        ("parakeet_ctc", {"hidden_size": 1 << 40}, "size"),
        ("parakeet_ctc", {"conv_kernel_size": 4}, "kernel"),
        ("parakeet_ctc", {"scale_input": 1}, "scale_input"),
        ("parakeet_ctc", {"quantization_config": {"bits": 4}}, "quantization_config"),
        ("parakeet_ctc", {"encoder_config": None}, "encoder_config"),
        ("parakeet_ctc", {"encoder_config": [1]}, "encoder_config is not a mapping"),
        ("parakeet_tdt", {"durations": []}, "durations"),
        ("parakeet_tdt", {"durations": ["1"]}, "durations"),
        ("parakeet_tdt", {"num_decoder_layers": 10**6}, "num_decoder_layers"),
        ("nemotron3_5_asr", {"num_prompts": 5}, "prompt of 'auto'"),
        ("nemotron3_5_asr", {"default_prompt_id": None}, "default_prompt_id"),
    ],
)
def test_a_key_that_we_cannot_follow_is_named(kind, keys, named):
    with pytest.raises(ConfigError, match=named):
        read_config(changed(kind, **keys), {})


def test_a_joint_of_another_activation_is_refused():
    config = copy.deepcopy(CONFIGS["parakeet_rnnt"])
    config["hidden_act"] = "gelu"
    with pytest.raises(ConfigError, match="hidden_act"):
        read_config(config, {})


@pytest.mark.parametrize(
    ("processor", "named"),
    [
        (extractor(sampling_rate=8000), "sampling_rate"),
        (extractor(hop_length=128), "hop_length"),
        (extractor(preemphasis=0.9), "preemphasis"),
        (extractor(n_fft=1024), "n_fft"),
        (extractor(feature_size=128), "feature_size"),
        (extractor(mel_filters_dtype="int8"), "mel_filters_dtype"),
        (extractor(feature_extractor_type="WhisperFeatureExtractor"), "feature_extractor_type"),
        (extractor(feature_extractor_type=[]), "feature_extractor_type"),
        ({"feature_extractor": 1}, "feature_extractor is not a mapping"),
        ({"supported_num_lookahead_tokens": [4]}, "no multiple"),
        ({"supported_num_lookahead_tokens": ["4"]}, "supported_num_lookahead_tokens"),
        ({"supported_num_lookahead_tokens": [[4]]}, "supported_num_lookahead_tokens"),
        ({"supported_num_lookahead_tokens": 4}, "supported_num_lookahead_tokens"),
        ({"default_num_lookahead_tokens": -1}, "right context"),
    ],
)
def test_features_and_contexts_that_we_cannot_follow_are_named(processor, named):
    with pytest.raises(ConfigError, match=named):
        read_config(CONFIGS["nemotron_asr_streaming"], processor)


def test_an_older_release_has_a_file_of_the_features_alone():
    file = PROCESSORS["parakeet_ctc"]["feature_extractor"]
    assert read_config(CONFIGS["parakeet_ctc"], file).features.normalise == "per_feature"
    with pytest.raises(ConfigError, match="hop_length"):
        read_config(CONFIGS["parakeet_ctc"], file | {"hop_length": 80})


def test_frames_are_scaled_unless_the_file_says_otherwise():
    config = copy.deepcopy(CONFIGS["parakeet_ctc"])
    config["encoder_config"].pop("scale_input", None)
    assert read_config(config, PROCESSORS["parakeet_ctc"]).model.encoder.scale_input


@pytest.mark.parametrize(
    ("kind", "keys", "told"),
    [
        ("parakeet_ctc", {"pad_token_id": None}, "pad_token_id is missing"),
        ("parakeet_ctc", {"encoder_config": None}, "encoder_config is missing"),
        (
            "parakeet_ctc",
            {"hidden_size": 1 << 40},
            f"encoder_config.hidden_size is {1 << 40}, which is not within",
        ),
        ("parakeet_ctc", {"vocab_size": 1, "pad_token_id": 0}, "vocab_size is 1, and vocab_size=0"),
        ("parakeet_tdt", {"num_decoder_layers": 99}, "num_decoder_layers is 99, which is not"),
        ("nemotron3_5_asr", {"num_prompts": 10**6}, "num_prompts is 1000000, which is not within"),
    ],
)
def test_what_does_not_fit_is_told_by_the_files_key_and_value(kind, keys, told):
    with pytest.raises(ConfigError) as caught:
        read_config(changed(kind, **keys), {})
    assert str(caught.value).startswith(f"config.json: {told}")


def test_what_a_processor_says_is_told_by_its_file():
    with pytest.raises(ConfigError, match=r"^preprocessor_config\.json: hop_length is 80, which"):
        read_config(CONFIGS["parakeet_ctc"], {"hop_length": 80}, "preprocessor_config.json")
