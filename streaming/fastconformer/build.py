"""A NeMo model with its parts as a recogniser."""

from __future__ import annotations

from dataclasses import replace

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.config import DecodingConfig
from earshot.models.errors import ModelError
from earshot.models.fastconformer.model import FastConformerModel
from earshot.models.native.precision import Precision
from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.models.transducer.transducer import Transducer
from earshot.streaming.boosting.boost_capacity import boost_capacity
from earshot.streaming.boosting.limited_boosts import most_earned
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.engine_config import EngineConfig
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.fastconformer.ctc_network import NemoCtc
from earshot.streaming.fastconformer.encode_step import EncodeStep
from earshot.streaming.fastconformer.encoder_precision import encoder_precision
from earshot.streaming.fastconformer.hearing import Hearing
from earshot.streaming.fastconformer.hearing_choice import build_hearing
from earshot.streaming.fastconformer.language_prompt import LanguagePrompt
from earshot.streaming.fastconformer.model_description import describe_model
from earshot.streaming.fastconformer.recognizer import FastConformerRecognizer
from earshot.streaming.fastconformer.stream_rules import FastConformerRules, modes_of
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.parts.neural_lm import NEURAL_LM
from earshot.streaming.parts.tagger import TAGGER
from earshot.streaming.parts.transducer_lm import TRANSDUCER_LM
from earshot.streaming.search.ctc_decoder import CtcDecoder
from earshot.streaming.search.ctc_searches import build_searches
from earshot.streaming.search.search_set import SearchSet
from earshot.streaming.stream.active_stream import StreamSettings
from earshot.streaming.stream.stream_decoder import StreamDecoder
from earshot.streaming.transducer.beam_decoder import BeamDecoder
from earshot.streaming.transducer.greedy_loop import device_loop_of
from earshot.streaming.transducer.label_beam import label_beam_of
from earshot.streaming.transducer.native_loop import label_loop_of
from earshot.streaming.transducer.options import refuse_transducer
from earshot.streaming.transducer.transducer_decoder import TransducerDecoder

UNKNOWN = DecodingConfig()
"""What the makers of a NeMo model recommend for a graph: they know of none."""


def build_fastconformer(
    loaded: LoadedModel, config: EngineConfig, parts: ModelParts
) -> FastConformerRecognizer:
    """A recogniser of the model's heads; a decoding graph is searched by its CTC head.

    Raises ModelError for another family's model, UnusableGraph for a graph of other units or one
    that no head can search, KernelError where a search cannot be built, InvalidEngineConfig for a
    chunk that was not trained, weights, fewer bits where torch runs the encoder, and parts that
    this family has no place for.
    """
    model = fastconformer_of(loaded)
    _refuse_weights(config)
    _refuse_searches(model, config, parts)
    config = replace(config, graph_search=config.graph_search.of(UNKNOWN))
    precision = encoder_precision(model.encoder, config.precision)
    feature_ms = model.config.features.frame_shift_ms
    hearing = build_hearing(
        model.encoder, feature_ms, config.chunk_size, config.max_streams, precision
    )
    settings = _settings(model, hearing, config)
    description = _description(loaded, model, hearing, config, settings, parts)
    description = replace(description, precision=precision)
    _refuse_parts(parts, description.writes_marks)
    prompt = model.config.prompt
    languages = None if prompt is None else LanguagePrompt(prompt)
    return FastConformerRecognizer(
        hearing,
        EncodeStep(hearing, settings, model.prompt, languages),
        _decoders(loaded, model, config, settings, parts, precision),
        parts,
        settings,
        description,
        _rules(model, description, config, parts),
    )


def _description(
    loaded: LoadedModel,
    model: FastConformerModel,
    hearing: Hearing,
    config: EngineConfig,
    settings: StreamSettings,
    parts: ModelParts,
) -> ModelDescription:
    """The description, with what a boost may earn in the search of most streams."""
    graph = _graph_search(config, parts)
    modes = modes_of(
        transducer=model.transducer is not None, ctc=model.ctc is not None, graph=graph is not None
    )
    buffered = hearing.buffered
    found = describe_model(loaded, model.config, settings, parts, modes, buffered=buffered)
    earned = most_earned(graph if model.transducer is None else None)
    return replace(found, most_earned=earned)


def _rules(
    model: FastConformerModel,
    description: ModelDescription,
    config: EngineConfig,
    parts: ModelParts,
) -> FastConformerRules:
    return FastConformerRules(
        description.modes,
        _graph_search(config, parts),
        parts.names,
        description.chunks_ms,
        model.config.prompt,
    )


def _graph_search(config: EngineConfig, parts: ModelParts) -> GraphSearchConfig | None:
    return None if parts.get(GRAPH) is None else config.graph_search


def fastconformer_of(loaded: LoadedModel) -> FastConformerModel:
    """The network of a model of this family. Raises ModelError for another's."""
    if not isinstance(loaded.model, FastConformerModel):
        raise ModelError(f"{loaded.name} is a model of the family {loaded.family!r}")
    return loaded.model


def _settings(model: FastConformerModel, hearing: Hearing, config: EngineConfig) -> StreamSettings:
    return StreamSettings(
        features=model.features,
        chunking=hearing.chunking,
        sample_rate_hz=model.config.features.sample_rate_hz,
        max_utterance_ms=config.max_utterance_ms,
        flush_padding_ms=0,  # the encoder knows itself how audio ends
        chunkings=tuple(hearing.chunkings),
        file_chunking=hearing.file_chunking,
        continuous=True,
    )


def _decoders(
    loaded: LoadedModel,
    model: FastConformerModel,
    config: EngineConfig,
    settings: StreamSettings,
    parts: ModelParts,
    precision: Precision,
) -> dict[str, StreamDecoder]:
    """By the searches that streams may have."""
    found: dict[str, StreamDecoder] = {}
    if model.transducer is not None:
        found.update(_label_decoders(model.transducer, loaded.tokenizer, config, parts))
    if model.ctc is not None:
        network = NemoCtc(model.ctc, model.config.vocab_size, precision)
        searches = build_searches(
            network,
            loaded.tokenizer,
            parts.get(GRAPH),
            config,
            vocab_size=model.config.vocab_size + 1,
            max_segment_frames=settings.max_segment_frames,
            device=model.ctc.output.weight.device,
            second_pass=False,
        )
        decoder = CtcDecoder(network, SearchSet(searches), config.beam_size)
        found.update(dict.fromkeys(searches, decoder))
    return found


def _label_decoders(
    head: Transducer, tokenizer: Tokenizer, config: EngineConfig, parts: ModelParts
) -> dict[str, StreamDecoder]:
    """Greedy decoding of a transducer, on the head's GPU if it is on one, and a beam."""
    slots = config.max_streams
    loop = label_loop_of(head, slots, boost_capacity(config))
    greedy = device_loop_of(head, config) or loop
    return {
        "transducer": TransducerDecoder(greedy, tokenizer, slots),
        "transducer_beam": BeamDecoder(loop, label_beam_of(loop, config, parts), tokenizer, slots),
    }


def _refuse_weights(config: EngineConfig) -> None:
    if others := [f"{name}_weight" for name in config.weights if name != TRANSDUCER_LM.name]:
        names = ", ".join(others)
        raise InvalidEngineConfig(f"{names}: no scorer of this model's family has a weight")


def _refuse_searches(model: FastConformerModel, config: EngineConfig, parts: ModelParts) -> None:
    asked = [name for name in ("beam_size", "token_beam") if name in config.family_options]
    if asked and model.ctc is None:
        raise InvalidEngineConfig(f"{', '.join(asked)}: this model has no CTC head to search")
    if model.transducer is None:
        refuse_transducer(config, parts)


def _refuse_parts(parts: ModelParts, writes_marks: bool) -> None:
    if writes_marks and TAGGER.name in parts.names:
        raise InvalidEngineConfig(f"a {TAGGER.title}: this model writes marks of its own")
    if NEURAL_LM.name in parts.names:
        raise InvalidEngineConfig(f"a {NEURAL_LM.title}: models of this family take none yet")
