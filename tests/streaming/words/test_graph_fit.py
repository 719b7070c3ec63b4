"""Whether a graph was built for a model: its units in their order, and its blank."""

from dataclasses import replace

import pytest

from earshot.decoder_kernels.errors import GraphMismatch
from earshot.decoder_kernels.graph.graph import Graph, units_checksum
from earshot.models.tokenizers.units import BLANK, CtcUnits
from earshot.streaming.words.graph_fit import fitting_units


def graph(symbols, blank_id: int) -> Graph:
    """Of no words, for these units."""
    sizes = {"vocab_size": len(symbols), "blank_id": blank_id}
    checksum = units_checksum(symbols)
    return Graph.from_arcs(
        [], {0: 0.0}, 1, topology="compact", word_texts=["<eps>"], units_checksum=checksum, **sizes
    )


@pytest.fixture
def symbols(tone_model) -> list[str]:
    return list(tone_model.tokenizer.units.symbols)


def test_a_blank_in_the_table_is_one_of_its_units(tone_model, symbols):
    assert fitting_units(graph(symbols, 0), tone_model) == "tokens"
    with pytest.raises(GraphMismatch, match="its blank is unit 1, the model's 0"):
        fitting_units(graph(symbols, 1), tone_model)


def test_a_blank_behind_the_table_is_one_unit_more(tone_model, symbols):
    size = len(symbols)
    model = replace(tone_model, ctc=CtcUnits(blank_id=size))
    assert fitting_units(graph([*symbols, BLANK], size), model) == "tokens"
    with pytest.raises(GraphMismatch, match=f"built for {size} units; the model has {size + 1}"):
        fitting_units(graph(symbols, 0), model)
    with pytest.raises(GraphMismatch, match="built for other units"):
        fitting_units(graph([*symbols[::-1], BLANK], size), model)


def test_a_model_without_a_ctc_head_has_no_graph(tone_model, symbols):
    with pytest.raises(GraphMismatch, match="no CTC head"):
        fitting_units(graph(symbols, 0), replace(tone_model, ctc=None))
