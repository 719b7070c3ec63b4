"""A language model of a transducer's labels: its word on what a beam may say next.

Fused as it searches (`csrc/transducer/beam_steps.h`), of each label

    score = ln p + transducer_lm_weight * (ln (1 - p of the blank) + ln p of the model)

A back-off n-gram in the ARPA format, such as KenLM's `lmplz` makes, by itself or in NeMo's scripts.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from earshot.streaming.errors import InvalidEngineConfig, InvalidStreamConfig
from earshot.streaming.lm_mix import LmMix
from earshot.streaming.parts.option import Option
from earshot.streaming.parts.part import Part
from earshot.streaming.stream_config import StreamConfig
from earshot.streaming.weights import MAX_WEIGHT

if TYPE_CHECKING:
    from earshot.decoder_kernels.transducer.token_lm import TokenLm
    from earshot.language.ngrams.arpa import Arpa
    from earshot.language.ngrams.label_words import LabelWords
    from earshot.models.config import DecodingConfig
    from earshot.streaming.parts.model_parts import ModelParts

log = logging.getLogger(__name__)

BEAM = "transducer_beam"
"""The search that asks it."""

MODE = "transducer_beam_search"
"""The mode of that search."""

NAME = "transducer_lm"
SHOWN = 5


@dataclass(frozen=True)
class LabelLmDescription:
    """labels: how many of the transducer's it knows.

    numbered: whether it has them by NeMo's characters of their numbers; else it spells them.
    """

    order: int
    ngrams: int
    labels: int
    numbered: bool


@dataclass(frozen=True)
class LabelLm:
    """The model as a beam walks over it, and what it was read from."""

    automaton: TokenLm
    about: LabelLmDescription


@dataclass(frozen=True)
class LmFile:
    """What an ARPA file holds. source: its name."""

    arpa: Arpa
    source: str


def lm_weight_of(config: StreamConfig, usual: float) -> float:
    """What the model counts in a stream: as it asks, else as usual; nothing with `lm=off`."""
    return 0.0 if config.graph.lm is False else config.weights.get(NAME, usual)


def without_lm_switch(config: StreamConfig, parts: frozenset[str]) -> StreamConfig:
    """The config but for `lm=on` and `lm=off` where they are said of the model of labels."""
    by_name = isinstance(config.graph.lm, LmMix)
    if config.mode != MODE or NAME not in parts or by_name:
        return config
    return replace(config, graph=replace(config.graph, lm=None))


def _load(path: Path, device: str) -> LmFile:
    """Raises InvalidEngineConfig for a file that is no ARPA model."""
    from earshot.decoder_kernels.errors import GraphSourceError
    from earshot.language.ngrams.arpa import read_arpa

    try:
        return LmFile(read_arpa(path), path.name)
    except GraphSourceError as error:
        raise InvalidEngineConfig(f"{NAME}: {error}") from error


def _fit(file: LmFile, parts: ModelParts) -> LabelLm:
    """Raises InvalidEngineConfig for a model of other labels."""
    from earshot.decoder_kernels.errors import GraphSourceError
    from earshot.language.ngrams.label_words import label_words
    from earshot.language.ngrams.token_lm import token_lm_by

    arpa, symbols = file.arpa, parts.model.tokenizer.units.symbols
    try:
        found = label_words(arpa.words, symbols)
    except GraphSourceError as error:
        raise InvalidEngineConfig(f"{NAME}: {file.source}: {error}") from error
    _tell(file, found)
    ngrams = sum(map(len, arpa.orders))
    about = LabelLmDescription(arpa.order, ngrams, found.known, found.numbered)
    return LabelLm(token_lm_by(arpa, found.words), about)


def _tell(file: LmFile, found: LabelWords) -> None:
    """Write to the log which of the model's words are no labels: few, or it were refused."""
    if found.strange:
        shown = ", ".join(map(repr, found.strange[:SHOWN]))
        count = len(found.strange)
        log.warning("%s: %s: words that are no labels (%d): %s", NAME, file.source, count, shown)


def _recommended(model: DecodingConfig) -> float:
    """Nobody recommends one: the kernel's own."""
    from earshot.decoder_kernels.transducer.label_beam import BeamConfig

    return BeamConfig.lm_weight


def _describe(found: LabelLm) -> LabelLmDescription:
    return found.about


def _check(name: str, config: StreamConfig, search: str) -> None:
    """Raises InvalidStreamConfig where a stream weighs what is never asked."""
    if search != BEAM:
        raise InvalidStreamConfig(f"{name}: mode {MODE} alone asks such a model")
    if config.graph.lm is False:
        raise InvalidStreamConfig(f"{name} contradicts lm=off")


TRANSDUCER_LM: Part[LabelLm] = Part(
    name=NAME,
    title="language model of labels",
    file="transducer_lm.arpa.gz",
    help="ARPA model of a transducer's labels, or none; if absent, the one beside the model",
    unset="is set, and there is no language model of labels",
    load=_load,
    fit=_fit,
    describe=_describe,
    settings=(
        Option(
            "transducer_lm_weight", "number", ("weights", NAME), low=0, high=MAX_WEIGHT,
            help="weight of the model of labels where a request names none; 0.3 if absent",
        ),
    ),
    parameters=(
        Option("transducer_lm_weight", "number", ("weights", NAME), low=0, high=MAX_WEIGHT),
    ),
    check=_check,
    recommended=_recommended,
)  # fmt: skip
