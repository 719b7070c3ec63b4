"""NeMo's model_config.yaml as our configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from earshot.models.checkpoints.nemo.archive import CONFIG
from earshot.models.checkpoints.nemo.encoder_config import ENCODER_FIELDS, read_encoder
from earshot.models.checkpoints.nemo.features_config import SAMPLE_RATE, read_features
from earshot.models.checkpoints.nemo.heads_config import check_ctc, read_prompt, read_transducer
from earshot.models.checkpoints.nemo.section import Section
from earshot.models.errors import ConfigError
from earshot.models.fastconformer.config import FastConformerModelConfig

CTC_MODELS = ("EncDecCTCModel", "EncDecCTCModelBPE")
TRANSDUCER_MODELS = (
    "EncDecRNNTModel",
    "EncDecRNNTBPEModel",
    "EncDecRNNTBPEModelWithPrompt",
    "EncDecRNNTBPEEOUModel",
)
HYBRID_MODELS = (
    "EncDecHybridRNNTCTCModel",
    "EncDecHybridRNNTCTCBPEModel",
    "EncDecHybridRNNTCTCBPEModelWithPrompt",
    "EncDecHybridRNNTCTCBPEEOUModel",
)


def read_config(options: Mapping[str, Any]) -> FastConformerModelConfig:
    """Our configuration from the contents of a model_config.yaml.

    Raises ConfigError for a model that we do not implement, naming the key.
    """
    model = Section(CONFIG, options)
    kind = model.require_target(*CTC_MODELS, *TRANSDUCER_MODELS, *HYBRID_MODELS)
    model.require_only({"sample_rate": (SAMPLE_RATE, None)})
    preprocessor, stated = model.inside("preprocessor"), model.inside("encoder")
    features = read_features(preprocessor)
    with stated.named(ENCODER_FIELDS):
        encoder = read_encoder(stated, preprocessor)
    vocab_size = _vocab_size(model, kind)
    has_ctc, has_transducer = kind not in TRANSDUCER_MODELS, kind not in CTC_MODELS
    if has_ctc:
        check_ctc(_ctc_decoder(model, kind), encoder.size)
    return FastConformerModelConfig(
        vocab_size=vocab_size,
        encoder=encoder,
        features=features,
        transducer=read_transducer(model, vocab_size, encoder.size) if has_transducer else None,
        has_ctc=has_ctc,
        prompt=read_prompt(model, encoder.size) if kind.endswith("WithPrompt") else None,
    )


def has_subwords(options: Mapping[str, Any]) -> bool:
    """Whether a model's units are a tokenizer's rather than its list of labels."""
    return "BPE" in Section(CONFIG, options).target()


def read_labels(options: Mapping[str, Any]) -> list[Any]:
    """The units of a model without a tokenizer, by id. Raises ConfigError."""
    model = Section(CONFIG, options)
    decoder = model.inside("decoder").items("vocabulary")
    return decoder or model.inside("joint").items("vocabulary") or model.items("labels")


def _ctc_decoder(model: Section, kind: str) -> Section:
    outer = model.inside("aux_ctc") if kind in HYBRID_MODELS else model
    return outer.inside("decoder")


def _vocab_size(model: Section, kind: str) -> int:
    """V: what the heads state, or else the units that they list; -1 states nothing."""
    decoder, joint = model.inside("decoder"), model.inside("joint")
    sections = [(decoder, "vocab_size"), (decoder, "num_classes"), (joint, "num_classes")]
    if kind in HYBRID_MODELS:
        sections.append((_ctc_decoder(model, kind), "num_classes"))
    stated = [section.whole(key, -1) for section, key in sections]
    lists = [section.items("vocabulary") for section, _ in sections]
    found = {size for size in stated if size > 0} | {len(units) for units in lists if units}
    found = found or {len(model.items("labels"))}
    if len(found) > 1:
        sizes = " and ".join(map(str, sorted(found)))
        raise ConfigError(f"{model.file}: the heads are of vocabularies of {sizes} units")
    return found.pop()
