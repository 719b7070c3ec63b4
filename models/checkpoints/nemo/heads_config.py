"""NeMo's heads, transducer, CTC and prompt, as our configuration.

Source: the constructors of nemo_toolkit 3.0.0, whose defaults stand here.
"""

from __future__ import annotations

from typing import Any

from earshot.models.checkpoints.nemo.section import Section
from earshot.models.errors import quote
from earshot.models.fastconformer.config import PromptConfig
from earshot.models.transducer_config import TransducerConfig

MAX_SYMBOLS = 10
"""Within one frame, where the configuration says nothing."""

MAX_DURATIONS = 128

PREDICTOR_VALUES: dict[str, tuple[Any, ...]] = {
    "normalization_mode": (None,),
    "blank_as_pad": (True,),
}
PREDICTOR_KEYS = {"_target_", "prednet", "vocab_size", "random_state_sampling"}
PREDNET_KEYS = {"pred_hidden", "pred_rnn_layers", "rnn_hidden_size"}
# How an LSTM's weights begin, and what regularises them.
IGNORED_PREDNET_KEYS = {
    "t_max",
    "dropout",
    "forget_gate_bias",
    "weights_init_scale",
    "hidden_hidden_bias_scale",
}
JOINT_KEYS = {"_target_", "jointnet", "num_classes", "num_extra_outputs", "vocabulary"}
# A soft maximum moves no choice between labels.
IGNORED_JOINT_KEYS = {
    "log_softmax",
    "preserve_memory",
    "fuse_loss_wer",
    "fused_batch_size",
    "experimental_fuse_loss_wer",
    "masking_prob",
}
JOINTNET_KEYS = {"joint_hidden", "activation", "dropout", "encoder_hidden", "pred_hidden"}
TRANSDUCER_FIELDS = {
    "predictor_size": "decoder.prednet.pred_hidden",
    "joint_size": "joint.jointnet.joint_hidden",
    "predictor_layers": "decoder.prednet.pred_rnn_layers",
    "max_symbols": "decoding.greedy.max_symbols",
}
"""Keys of the model by the fields of ours that their values become."""
CTC_VALUES: dict[str, tuple[Any, ...]] = {"add_blank": (True,)}
CTC_KEYS = {"_target_", "feat_in", "num_classes", "vocabulary", "init_mode"}


def read_transducer(model: Section, vocab_size: int, encoder_size: int) -> TransducerConfig:
    """The decoder and joint of a model. Raises ConfigError for what we do not implement."""
    decoder, joint = model.inside("decoder"), model.inside("joint")
    decoder.require_target("RNNTDecoder")
    decoder.require_known(PREDICTOR_KEYS, set(PREDICTOR_VALUES))
    decoder.require_only(PREDICTOR_VALUES)
    joint.require_target("RNNTJoint")
    joint.require_known(JOINT_KEYS, IGNORED_JOINT_KEYS)
    predictor, jointnet = decoder.inside("prednet"), joint.inside("jointnet")
    predictor.require_known(PREDNET_KEYS, IGNORED_PREDNET_KEYS)
    jointnet.require_known(JOINTNET_KEYS)
    size = predictor.whole("pred_hidden")
    predictor.require_only({"rnn_hidden_size": (-1, 0, None, size)})
    jointnet.require_only({"encoder_hidden": (encoder_size, None), "pred_hidden": (size, None)})
    with model.named(TRANSDUCER_FIELDS):
        return TransducerConfig(
            vocab_size=vocab_size,
            encoder_size=encoder_size,
            predictor_size=size,
            joint_size=jointnet.whole("joint_hidden"),
            predictor_layers=predictor.whole("pred_rnn_layers", 1),
            activation=jointnet.choice("activation", "relu", ("relu", "sigmoid", "tanh")),  # type: ignore[arg-type]
            durations=_durations(model, joint.whole("num_extra_outputs", 0)),
            max_symbols=_max_symbols(model.inside("decoding").inside("greedy")),
        )


def check_ctc(decoder: Section, encoder_size: int) -> None:
    """Raises ConfigError unless a CTC head is the linear layer that we have."""
    decoder.require_target("ConvASRDecoder")
    decoder.require_known(CTC_KEYS, set(CTC_VALUES))
    decoder.require_only(CTC_VALUES | {"feat_in": (encoder_size, None, 0)})


def read_prompt(model: Section, encoder_size: int) -> PromptConfig | None:
    """The prompt of a model whose class has one; None where it was never begun with."""
    defaults = model.inside("model_defaults")
    if not defaults.flag("initialize_prompt_feature", False):
        return None
    defaults.require_only({"enc_hidden": (encoder_size,)})
    languages = defaults.inside("prompt_dictionary").values
    if not all(isinstance(language, str) for language in languages):
        raise defaults.wrong("prompt_dictionary", "has a key that is no text")
    size = model.whole("num_prompts", defaults.whole("num_prompts", 128))
    with model.named({"size": "num_prompts"}):
        return PromptConfig(size, 2 * encoder_size, dict(languages))


def _durations(model: Section, extra_outputs: int) -> tuple[int, ...]:
    """In frames, of a TDT, whose joint has an output for each.

    The loss names those that were trained, and NeMo goes by it before all others.
    """
    decoding, loss = model.inside("decoding"), model.inside("loss")
    if decoding.items("big_blank_durations") or loss.values.get("loss_name") == "multiblank_rnnt":
        raise decoding.wrong("big_blank_durations", "is not supported: blanks of many frames")
    durations = decoding.items("durations")
    if loss.values.get("loss_name") == "tdt":
        durations = loss.inside("tdt_kwargs").items("durations") or durations
    if not durations and extra_outputs:
        durations = model.inside("model_defaults").items("tdt_durations")
    if len(durations) != extra_outputs or extra_outputs > MAX_DURATIONS:
        raise model.wrong(
            "joint.num_extra_outputs",
            f"is {extra_outputs}, and there are {len(durations)} durations",
        )
    for frames in durations:
        if type(frames) is not int:
            raise decoding.wrong("durations", f"has {quote(frames)}, which is no number of frames")
    return tuple(durations)


def _max_symbols(greedy: Section) -> int:
    """Older configurations have another name for it; null, NeMo's word for no bound, is ours."""
    return greedy.whole("max_symbols", 0) or greedy.whole("max_symbols_per_step", 0) or MAX_SYMBOLS
