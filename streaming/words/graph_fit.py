"""Whether a decoding graph was built for a model, and for which of its units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from earshot.decoder_kernels.errors import GraphMismatch
from earshot.decoder_kernels.graph.graph import Graph, units_checksum
from earshot.models.config import PHONE_BLANK

if TYPE_CHECKING:  # without torch, which commands load only when they need it
    from earshot.models.checkpoints.assembly import LoadedModel

UnitKind: TypeAlias = Literal["pieces", "phones"]


def fitting_units(graph: Graph, loaded: LoadedModel) -> UnitKind:
    """What the graph's words are spelled in: the model's pieces, or its phones.

    Raises GraphMismatch if neither.
    """
    config = loaded.model.config
    if config.phones and graph.units_checksum == units_checksum(config.phone_symbols):
        _require_blank(graph, PHONE_BLANK)
        return "phones"
    graph.require_units(loaded.tokenizer.units.symbols)
    _require_blank(graph, config.blank_id)
    return "pieces"


def _require_blank(graph: Graph, blank_id: int) -> None:
    if graph.blank_id != blank_id:
        raise GraphMismatch(f"its blank is unit {graph.blank_id}, the model's {blank_id}")
