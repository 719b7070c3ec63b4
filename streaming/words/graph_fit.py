"""Whether a decoding graph was built for a model, and for which of its units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from earshot.decoder_kernels.errors import GraphMismatch
from earshot.decoder_kernels.graph.graph import Graph, units_checksum
from earshot.models.config import PHONE_BLANK

if TYPE_CHECKING:  # without torch, which commands load only when they need it
    from earshot.models.checkpoints.assembly import LoadedModel

UnitKind: TypeAlias = Literal["tokens", "phones"]


def fitting_units(graph: Graph, loaded: LoadedModel) -> UnitKind:
    """What the graph's words are spelled in: the model's tokens, or its phones.

    Raises GraphMismatch if neither.
    """
    ctc = loaded.ctc
    if ctc is None:
        raise GraphMismatch("the model has no CTC head to search it by")
    if ctc.phones and graph.units_checksum == units_checksum(ctc.phone_symbols):
        _require_blank(graph, PHONE_BLANK)
        return "phones"
    graph.require_units(ctc.token_symbols(loaded.tokenizer.units.symbols))
    _require_blank(graph, ctc.blank_id)
    return "tokens"


def _require_blank(graph: Graph, blank_id: int) -> None:
    if graph.blank_id != blank_id:
        raise GraphMismatch(f"its blank is unit {graph.blank_id}, the model's {blank_id}")
