"""The description of a graph: its size, units and topology."""

import numpy as np

from earshot.decoder_kernels.graph.epsilon_order import epsilon_order
from earshot.decoder_kernels.graph.graph import EPSILON, Graph


def describe_graph(graph: Graph) -> dict[str, object]:
    """Sizes, arcs by kind and what the graph was built for, by name.

    Arcs are ``epsilon`` (back-off and ends of words), ``blank`` and ``repeat`` (of explicit graphs:
    a token goes on), or ``token``; ``arcs_with_words`` are of any kind. Raises InvalidGraph for a
    graph whose epsilon arcs no search takes.
    """
    counts = np.diff(graph.first_arc)
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), counts)
    explicit = graph.topology == "explicit"
    blank = (graph.labels == graph.blank_id + 1) if explicit else np.zeros(graph.num_arcs, bool)
    repeat = explicit & ~blank & (graph.targets == sources) & (graph.labels != EPSILON)
    epsilon = graph.labels == EPSILON
    return {
        "topology": graph.topology,
        "nodes": graph.num_nodes,
        "final_nodes": int(np.isfinite(graph.finals).sum()),
        "arcs": graph.num_arcs,
        "epsilon_arcs": int(epsilon.sum()),
        "epsilon_levels": epsilon_order(graph).num_levels,
        "blank_arcs": int(blank.sum()),
        "repeat_arcs": int(repeat.sum()),
        "token_arcs": int((~epsilon & ~blank & ~repeat).sum()),
        "arcs_with_words": int((graph.words != 0).sum()),
        "most_arcs_of_a_node": int(counts.max()),
        "words": len(graph.word_texts) - 1,
        "units": graph.vocab_size,
        "blank_id": graph.blank_id,
        "units_checksum": graph.units_checksum or "unknown",
        "takes_unknown_words": graph.loop_node >= 0,
        "unknown_word_cost": round(graph.unknown_cost, 4),
        "small_lm_ngrams": 0 if graph.small_lm is None else graph.small_lm.header.num_ngrams,
    }
