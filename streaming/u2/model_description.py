"""A U2 model as its engine describes it."""

from dataclasses import replace

from earshot.models.checkpoints.assembly import LoadedModel, u2_of
from earshot.models.native.precision import Precision
from earshot.streaming.engine.model_description import ModelDescription
from earshot.streaming.parts.described_model import described_model
from earshot.streaming.parts.graph import GRAPH
from earshot.streaming.parts.model_parts import ModelParts
from earshot.streaming.search.decoding_mode import TRANSDUCER_MODES, WENET_MODES
from earshot.streaming.stream.active_stream import StreamSettings


def describe_model(
    loaded: LoadedModel, settings: StreamSettings, parts: ModelParts, precision: Precision
) -> ModelDescription:
    """The model, and how this engine cuts its audio and searches it."""
    has_graph = parts.get(GRAPH) is not None
    head = u2_of(loaded).transducer
    modes = (
        *(mode for mode in WENET_MODES if has_graph or mode != "ctc_wfst_beam_search"),
        *(() if head is None else TRANSDUCER_MODES),
    )
    heads = (
        "ctc",
        "attention" if loaded.writer is None else "whisper",
        *(() if head is None else (head.config.kind,)),
    )
    described = described_model(loaded, settings, parts, modes, heads)
    return replace(described, precision=precision, writes_marks=loaded.writer is not None)
