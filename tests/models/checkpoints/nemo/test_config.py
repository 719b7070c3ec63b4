"""NeMo's configurations: what we implement becomes ours, anything else is refused by its key."""

import pytest
from nemo_writer import LABELS, SIZE, options

from earshot.models.checkpoints.nemo.config import read_config
from earshot.models.errors import ConfigError
from earshot.models.fastconformer.config import AttentionContext, PromptConfig

CTC, RNNT, HYBRID = "EncDecCTCModel", "EncDecRNNTBPEModel", "EncDecHybridRNNTCTCBPEModel"
TDT = {"joint__num_extra_outputs": 3, "decoding__durations": [0, 1, 4]}
PROMPT = {
    "model_defaults__initialize_prompt_feature": True,
    "model_defaults__enc_hidden": SIZE,
    "model_defaults__num_prompts": 5,
    "model_defaults__prompt_dictionary": {"en-US": 0, "auto": 4},
}


def test_an_old_configuration_has_the_defaults_of_its_time():
    config = read_config(options(CTC))
    encoder = config.encoder
    assert (encoder.subsampling, encoder.subsampling_factor, encoder.stem_channels) == (
        "striding", 4, SIZE,
    )  # fmt: skip
    assert (encoder.conv_norm, encoder.context_style) == ("batch_norm", "regular")
    assert encoder.use_bias
    assert encoder.scale_input
    assert not any((encoder.causal_stem, encoder.causal_convolution, encoder.shared_positions))
    assert encoder.contexts == (AttentionContext(-1, -1),)
    assert encoder.feed_forward_size == 4 * SIZE
    assert config.features.num_mel_bins == 80


@pytest.mark.parametrize(
    ("kind", "has_ctc", "has_transducer"),
    [
        ("EncDecCTCModel", True, False),
        ("EncDecCTCModelBPE", True, False),
        ("EncDecRNNTModel", False, True),
        ("EncDecRNNTBPEModel", False, True),
        ("EncDecRNNTBPEEOUModel", False, True),
        ("EncDecHybridRNNTCTCModel", True, True),
        ("EncDecHybridRNNTCTCBPEModel", True, True),
    ],
)
def test_the_class_says_which_heads_there_are(kind, has_ctc, has_transducer):
    config = read_config(options(kind))
    assert (config.has_ctc, config.transducer is not None) == (has_ctc, has_transducer)
    assert config.prompt is None


@pytest.mark.parametrize("kind", ["EncDecMultiTaskModel", "EncDecMultiTalkerRNNTBPEModel", None])
def test_another_class_is_refused(kind):
    with pytest.raises(ConfigError, match=r": target is "):
        read_config(options(CTC, target=kind))


def test_a_class_may_be_named_with_an_underscore():
    values = options(CTC)
    values["_target_"] = values.pop("target")
    assert read_config(values).has_ctc


def test_a_vocabulary_of_minus_one_is_counted():
    assert read_config(options(CTC)).vocab_size == len(LABELS)


def test_heads_of_different_vocabularies_are_refused():
    with pytest.raises(ConfigError, match="vocabularies of 5 and 6 units"):
        read_config(options(RNNT, joint__num_classes=6))
    with pytest.raises(ConfigError, match="vocabularies of 4 and 5 units"):
        read_config(options(HYBRID, aux_ctc__decoder__vocabulary=["a", "b", "c", "d"]))


def test_the_transducer_is_as_its_sections_say():
    head = read_config(
        options(RNNT, joint__jointnet__activation="TANH", decoding__greedy={"max_symbols": 3})
    ).transducer
    assert head is not None
    assert (head.vocab_size, head.encoder_size, head.predictor_size, head.joint_size) == (
        5,
        8,
        6,
        7,
    )
    assert (head.activation, head.max_symbols, head.durations) == ("tanh", 3, ())


@pytest.mark.parametrize(
    ("greedy", "expected"),
    [
        ({}, 10),
        ({"max_symbols_per_step": 4}, 4),
        ({"max_symbols": None}, 10),
        ({"max_symbols": 0}, 10),
    ],
)
def test_symbols_within_a_frame_have_two_names_and_a_default(greedy, expected):
    head = read_config(options(RNNT, decoding__greedy=greedy)).transducer
    assert head is not None
    assert head.max_symbols == expected


@pytest.mark.parametrize(
    "told",
    [
        {"decoding__durations": [0, 1, 4]},
        {"model_defaults__tdt_durations": [0, 1, 4]},
        {"loss": {"loss_name": "tdt", "tdt_kwargs": {"durations": [0, 1, 4]}}},
        {
            "loss": {"loss_name": "tdt", "tdt_kwargs": {"durations": [0, 1, 4]}},
            "decoding__durations": [0, 1, 2],
        },
    ],
)
def test_durations_are_those_of_the_loss_the_decoding_or_the_defaults(told):
    head = read_config(options(RNNT, joint__num_extra_outputs=3, **told)).transducer
    assert head is not None
    assert head.durations == (0, 1, 4)


def test_defaults_do_not_make_a_tdt_of_a_joint_without_durations():
    head = read_config(options(RNNT, model_defaults__tdt_durations=[0, 1])).transducer
    assert head is not None
    assert head.durations == ()


@pytest.mark.parametrize("durations", [[], [0, 1], [0, 1, 2, 3]])
def test_durations_without_outputs_are_refused(durations):
    with pytest.raises(ConfigError, match=r"num_extra_outputs is 3"):
        read_config(options(RNNT, **{**TDT, "decoding__durations": durations}))


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ([-1, -1], [(-1, -1)]),
        ([70, 1], [(70, 1)]),
        ([[70, 13], [70, 0]], [(70, 13), (70, 0)]),
        (None, [(-1, -1)]),
        ([], [(-1, -1)]),
    ],
)
def test_one_context_or_many_are_read(named, expected):
    config = read_config(options(CTC, encoder__att_context_size=named))
    assert [(each.left, each.right) for each in config.encoder.contexts] == expected


@pytest.mark.parametrize("named", [[70], [[70, 1, 3]], [70, "1"], "all", [[70, True]], [[], 1]])
def test_other_contexts_are_refused(named):
    with pytest.raises(ConfigError, match="att_context_size"):
        read_config(options(CTC, encoder__att_context_size=named))


@pytest.mark.parametrize(
    ("named", "causal"), [(None, False), ("causal", True), ([1, 1], False), ([2, 0], True)]
)
def test_a_convolution_is_causal_or_as_wide_on_both_sides(named, causal):
    config = read_config(options(CTC, encoder__conv_context_size=named))
    assert config.encoder.causal_convolution == causal


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("NA", "none"),
        (None, "none"),
        ("per_feature", "per_feature"),
        ("PER_FEATURE", "per_feature"),
    ],
)
def test_features_are_normalised_or_not(named, expected):
    config = read_config(options(CTC, preprocessor__normalize=named))
    assert config.encoder.normalise == expected


def test_the_network_of_a_streaming_model_is_causal_in_chunks():
    encoder = read_config(
        options(
            CTC,
            encoder__att_context_style="CHUNKED_LIMITED",
            encoder__att_context_size=[[4, 1], [4, 0]],
            encoder__causal_downsampling=True,
            encoder__conv_norm_type="layer_norm",
            encoder__subsampling="dw_striding",
            encoder__subsampling_factor=8,
            encoder__subsampling_conv_channels=6,
            encoder__untie_biases=False,
            encoder__use_bias=False,
            encoder__xscaling=False,
        )
    ).encoder
    assert (encoder.context_style, encoder.conv_norm) == ("chunked_limited", "layer_norm")
    assert (encoder.subsampling, encoder.stem_channels, encoder.stem_stages) == (
        "dw_striding",
        6,
        3,
    )
    assert encoder.causal_stem
    assert encoder.shared_positions
    assert not any((encoder.use_bias, encoder.scale_input))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("encoder___target_", "nemo.collections.asr.modules.SqueezeformerEncoder"),
        ("encoder__self_attention_model", "rel_pos_local_attn"),
        ("encoder__self_attention_model", "abs_pos"),
        ("encoder__subsampling", "stacking"),
        ("encoder__subsampling", "vggnet"),
        ("encoder__conv_context_size", [2, 1]),
        ("encoder__conv_context_style", "dcc"),
        ("encoder__conv_norm_type", "group_norm4"),
        ("encoder__att_context_style", "chunked_limited_with_rc"),
        ("encoder__att_chunk_context_size", [[70], [1], [0]]),
        ("encoder__global_tokens", 1),
        ("encoder__global_attn_separate", True),
        ("encoder__feat_out", SIZE + 1),
        ("encoder__d_model", "8"),
        ("encoder__use_bias", "no"),
        ("encoder__a_new_key", 1),
        ("preprocessor___target_", "nemo.collections.asr.modules.AudioToMFCCPreprocessor"),
        ("preprocessor__frame_splicing", 3),
        ("preprocessor__n_fft", 1024),
        ("preprocessor__window", "hamming"),
        ("preprocessor__window_size", 0.02),
        ("preprocessor__window_stride", 0.02),
        ("preprocessor__sample_rate", 8000),
        ("preprocessor__normalize", "all_features"),
        ("preprocessor__normalize", {"fixed_mean": [0.0], "fixed_std": [1.0]}),
        ("preprocessor__preemph", None),
        ("preprocessor__log", False),
        ("preprocessor__log_zero_guard_type", "clamp"),
        ("preprocessor__log_zero_guard_value", "eps"),
        ("preprocessor__mag_power", 1.0),
        ("preprocessor__mel_norm", None),
        ("preprocessor__exact_pad", True),
        ("preprocessor__highfreq", 4000),
        ("preprocessor__a_new_key", 1),
        ("decoder___target_", "nemo.collections.asr.modules.StatelessTransducerDecoder"),
        ("decoder__normalization_mode", "layer"),
        ("decoder__blank_as_pad", False),
        ("decoder__prednet__rnn_hidden_size", 12),
        ("decoder__prednet__pred_hidden", None),
        ("joint___target_", "nemo.collections.asr.modules.HATJoint"),
        ("joint__jointnet__activation", "gelu"),
        ("joint__jointnet__encoder_hidden", 9),
        ("joint__jointnet__pred_hidden", 9),
        ("joint__a_new_key", 1),
        ("decoding__big_blank_durations", [2, 4]),
        ("aux_ctc__decoder___target_", "nemo.collections.asr.modules.LSTMDecoder"),
        ("aux_ctc__decoder__add_blank", False),
        ("sample_rate", 8000),
    ],
)
def test_what_we_do_not_implement_is_refused_by_its_key(key, value):
    named = "_target_" if key.endswith("_target_") else key.rsplit("__", 1)[-1]
    with pytest.raises(ConfigError, match=named):
        read_config(options(HYBRID, **{key: value}))


def test_a_reduction_of_frames_is_refused_unless_it_is_by_one():
    assert read_config(options(CTC, encoder__reduction="pooling", encoder__reduction_factor=1))
    with pytest.raises(ConfigError, match="reduction"):
        read_config(options(CTC, encoder__reduction="pooling", encoder__reduction_factor=2))


def test_a_window_that_is_not_named_is_refused_for_nemos_default():
    values = options(CTC)
    del values["preprocessor"]["window_size"]
    with pytest.raises(ConfigError, match="20 ms"):
        read_config(values)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec_augment": {"freq_masks": 2}, "optim": {"name": "adamw"}, "interctc": {"x": 1}},
        {"encoder__dropout": 0.5, "encoder__stochastic_depth_drop_prob": 0.3},
        {"encoder__pos_emb_max_len": 9, "encoder__att_context_probs": [1.0]},
        {"preprocessor__dither": 1.0, "preprocessor__pad_to": 16},
        {"joint__log_softmax": True, "joint__fuse_loss_wer": True},
        {"decoder__prednet__forget_gate_bias": 2.0, "decoder__random_state_sampling": True},
        {"decoding__beam": {"pruning_mode": "LATE", "blank_lm_score_mode": "LM_WEIGHTED_FULL"}},
    ],
)
def test_what_only_training_reads_changes_nothing(changes):
    assert read_config(options(HYBRID, **changes)) == read_config(options(HYBRID))


@pytest.mark.parametrize(
    "kind", ["EncDecRNNTBPEModelWithPrompt", "EncDecHybridRNNTCTCBPEModelWithPrompt"]
)
def test_a_prompt_is_read_where_its_model_has_begun_with_one(kind):
    config = read_config(options(kind, **PROMPT))
    assert config.prompt == PromptConfig(5, 2 * SIZE, {"en-US": 0, "auto": 4})
    assert read_config(options(kind)).prompt is None
    assert read_config(options(RNNT, **PROMPT)).prompt is None


@pytest.mark.parametrize("languages", [{"en": 5}, {"en": "0"}, {False: 1}, [1]])
def test_a_prompt_of_other_places_is_refused(languages):
    told = {**PROMPT, "model_defaults__prompt_dictionary": languages}
    with pytest.raises(ConfigError, match="prompt"):
        read_config(options("EncDecRNNTBPEModelWithPrompt", **told))


@pytest.mark.parametrize("key", ["encoder", "preprocessor", "decoder", "joint"])
@pytest.mark.parametrize("value", [3, [1], "text", {}, None])
def test_a_section_that_is_none_is_refused(key, value):
    with pytest.raises(ConfigError):
        read_config(options(RNNT, **{key: value}))


def test_a_loss_of_many_blanks_is_refused():
    with pytest.raises(ConfigError, match="big_blank_durations"):
        read_config(options(RNNT, loss__loss_name="multiblank_rnnt"))


def test_a_tdts_loss_without_durations_leaves_them_to_decoding():
    config = read_config(options(RNNT, **TDT, loss__loss_name="tdt"))
    assert config.transducer.durations == (0, 1, 4)


def test_unknown_keys_of_a_ctc_head_are_refused():
    with pytest.raises(ConfigError, match="temperature"):
        read_config(options(CTC, decoder__temperature=5))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"encoder__d_model": None}, "encoder.d_model is missing; it should be a whole number"),
        ({"encoder__d_model": "8"}, "encoder.d_model is '8'; it should be a whole number"),
        ({"encoder__use_bias": "no"}, "encoder.use_bias is 'no'; it should be true or false"),
        ({"encoder": None}, "encoder is missing"),
        ({"preprocessor": {}}, "preprocessor is missing"),
        ({"target": None}, "target is missing; it should be the name of a class"),
        ({"target": "a.Other"}, "target is 'Other', which is not supported (EncDecCTCModel, "),
        (
            {"encoder__n_layers": 10**9},
            "encoder.n_layers is 1000000000, which is not within 1..256",
        ),
        ({"encoder__d_model": 0}, "encoder.d_model is 0, which is not within 1.."),
        ({"encoder__n_heads": 3}, "encoder.d_model is 8, which is no multiple of 3 heads"),
        ({"encoder__conv_kernel_size": 4}, "encoder.conv_kernel_size is 4, which is even"),
        (
            {"encoder__ff_expansion_factor": 10**6},
            "encoder.ff_expansion_factor is 1000000, and feed_forward_size=8000000 is not within",
        ),
        (
            {"encoder__att_context_size": [70, -2]},
            "encoder.att_context_size is [70, -2], and right=-2 is not within -1..",
        ),
        (
            {"decoder__prednet__pred_rnn_layers": 99},
            "decoder.prednet.pred_rnn_layers is 99, which is not within 1..16",
        ),
        (
            {"joint__jointnet__joint_hidden": -1},
            "joint.jointnet.joint_hidden is -1, which is not within 1..",
        ),
        ({"preprocessor__features": 10**6}, "preprocessor.features is 1000000, which is not"),
    ],
)
def test_what_does_not_fit_is_told_by_nemos_key_and_the_files_value(changes, told):
    with pytest.raises(ConfigError) as caught:
        read_config(options(RNNT, **changes))
    assert str(caught.value).startswith(f"model_config.yaml: {told}")
