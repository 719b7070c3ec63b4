"""The words of a graph for one model."""

from collections.abc import Callable

from earshot.decoder_kernels.errors import GraphMismatch
from earshot.decoder_kernels.graph.graph import Graph
from earshot.language.g2p.pronouncer import Pronouncer, pronouncer_of
from earshot.models.checkpoints.assembly import LoadedModel
from earshot.streaming.errors import UnusableGraph
from earshot.streaming.words.graph_fit import fitting_units
from earshot.streaming.words.graph_words import GraphWords


def words_of(
    graph: Graph, loaded: LoadedModel, letters: Callable[[], Pronouncer | None] | None = None
) -> GraphWords:
    """The graph's words for a model. Raises UnusableGraph if it was built for another one.

    letters: finds what pronounces new words, asked for a graph of phones alone; the model's own if
    None. Raises ModelError for a broken lexicon beside the model.
    """
    try:
        units = fitting_units(graph, loaded)
    except GraphMismatch as error:
        raise UnusableGraph(str(error)) from error
    find = letters or (lambda: pronouncer_of(loaded))
    pronouncer = find() if units == "phones" else None
    return GraphWords(graph, loaded.tokenizer, units=units, pronouncer=pronouncer)
