"""From an n-gram and the spellings of its words to a decoding graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.graph import NO_WORD_TEXT, ArcColumns, Graph, units_checksum
from earshot.language.graphs.composition import compose_lexicon
from earshot.language.graphs.detours import without_detours
from earshot.language.graphs.explicit import explicit_graph
from earshot.language.graphs.fst import Fst
from earshot.language.graphs.grammar import Grammar, grammar_of
from earshot.language.graphs.lexicon import MAX_SPELLING, Lexicon, Spelling, lexicon_fst
from earshot.language.graphs.small_lm import small_lm_of
from earshot.language.ngrams.arpa import (
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN_WORDS,
    Arpa,
    read_arpa,
)
from earshot.language.ngrams.monotone import monotone
from earshot.language.ngrams.stepped_model import STEP, require_step, stepped_model

GraphForm = Literal["compact", "normal", "explicit-compact", "explicit-normal"]
GRAPH_FORMS: tuple[GraphForm, ...] = ("compact", "normal", "explicit-compact", "explicit-normal")

Progress = Callable[[str, float | None], None]
"""Hears what is being done, and how much of it (0 to 1) is, where that is known."""

Speller = Callable[[str], Sequence[Spelling]]
"""The spellings of a word, in token ids; none if it has no spelling."""

SPECIAL_WORDS = frozenset({NO_WORD_TEXT, SENTENCE_START, SENTENCE_END, *UNKNOWN_WORDS})
WORDS_PER_REPORT = 1_000


@dataclass(frozen=True)
class Units:
    """What the model writes: its units by token id, and which of them is blank.

    ``separator`` is the token that stands between words, if the spellings do not say where a word
    begins (a model of characters that writes spaces).
    """

    symbols: Sequence[str]
    blank_id: int
    separator: int | None = None


@dataclass(frozen=True, eq=False)
class Build:
    """A graph, and what did not go into it.

    ``unspelled``: words of the language model without a spelling. ``unknown``: words asked for that
    the language model does not have.
    """

    graph: Graph
    words: int
    ngrams: int
    ngrams_used: int
    redundant_states: int
    unspelled: tuple[str, ...]
    unknown: tuple[str, ...]


def build_graph(
    lm: Path,
    spell: Speller,
    units: Units,
    *,
    form: GraphForm = "compact",
    only: Sequence[str] | None = None,
    step: float = STEP,
    with_small_lm: bool = True,
    progress: Progress = lambda what, done: None,
) -> Build:
    """Build the graph of an ARPA file; with ``only``, of these words of it.

    The model is rounded to multiples of ``step`` nats and made monotone; then a path costs what the
    model says, to the bit. The graph has that model with it (`Graph.small_lm`), unless it is to be
    without. Raises GraphSourceError (a file or a step that cannot be used, no words left, kaldifst
    missing) or another GraphError, and LmImageError where no image can be written.
    """
    require_step(step)
    arpa = read_arpa(lm, lambda done: progress(f"reading {lm.name}", done))
    lexicon, unspelled = _spelled(arpa, spell, only, progress)
    _require_tokens(lexicon, units)
    if not lexicon:
        raise GraphSourceError(
            f"none of its {len(unspelled)} words can be spelled in the units of the model", lm.name
        )
    word_ids = {text: i for i, text in enumerate(lexicon, start=1)}
    progress("building the grammar", None)
    model = monotone(stepped_model(arpa, word_ids, step))
    grammar = grammar_of(model, word_ids, len(word_ids) + 1)
    small_lm = small_lm_of(model) if with_small_lm else None
    graph = _composed(lexicon, word_ids, grammar, units, form, progress)
    known = set(arpa.words)
    return Build(
        graph=replace(graph, small_lm=small_lm),
        words=len(lexicon),
        ngrams=sum(map(len, arpa.orders)),
        ngrams_used=model.listed,
        redundant_states=grammar.states_dropped,
        unspelled=tuple(unspelled),
        unknown=tuple(word for word in only or () if word not in known),
    )


def _composed(
    lexicon: Lexicon,
    word_ids: Mapping[str, int],
    grammar: Grammar,
    units: Units,
    form: GraphForm,
    progress: Progress,
) -> Graph:
    """L over G, determinized, minimized and laid out in the form asked for."""
    back_off = len(word_ids) + 1
    letters = lexicon_fst(lexicon, word_ids, len(units.symbols), back_off, units.separator)
    lg = compose_lexicon(letters.fst, grammar.fst, lambda what: progress(what, None))
    progress("laying out the graph", None)
    texts = (NO_WORD_TEXT, *word_ids)
    graph = _implicit(lg, letters.first_symbol, grammar, units, texts, form)
    if form.startswith("explicit"):
        return explicit_graph(graph, "normal" if form == "explicit-normal" else "compact")
    return graph


def _spelled(
    arpa: Arpa, spell: Speller, only: Sequence[str] | None, progress: Progress
) -> tuple[dict[str, Sequence[Spelling]], list[str]]:
    """The spellings of the words, and the words that have none."""
    wanted = set(arpa.words if only is None else only) - SPECIAL_WORDS
    words = [word for word in arpa.words if word in wanted]
    lexicon: dict[str, Sequence[Spelling]] = {}
    unspelled: list[str] = []
    for i, word in enumerate(words):
        if i % WORDS_PER_REPORT == 0:
            progress("spelling the words", i / len(words))
        spellings = spell(word)
        if spellings:
            lexicon[word] = spellings
        else:
            unspelled.append(word)
    return lexicon, unspelled


def _require_tokens(lexicon: Lexicon, units: Units) -> None:
    for word, spellings in lexicon.items():
        for spelling in spellings:
            if not 1 <= len(spelling) <= MAX_SPELLING:
                raise GraphSourceError(f"a spelling of {word!r} has {len(spelling)} tokens")
            for token in spelling:
                if not 0 <= token < len(units.symbols) or token == units.blank_id:
                    raise GraphSourceError(f"token {token} cannot be in a spelling of {word!r}")


def _implicit(
    lg: Fst,
    first_symbol: int,
    grammar: Grammar,
    units: Units,
    texts: Sequence[str],
    form: GraphForm,
) -> Graph:
    """LG as a graph: disambiguation symbols become epsilon, and detours fall away."""
    loop = _loop_node(lg, first_symbol, grammar)
    plain = replace(lg, ilabels=np.where(lg.ilabels >= first_symbol, 0, lg.ilabels))
    fst, numbers = without_detours(plain, [loop] if loop >= 0 else [])
    return Graph.from_columns(
        ArcColumns(fst.sources, fst.ilabels, fst.olabels, fst.weights, fst.targets),
        fst.finals,
        topology="normal" if form.endswith("normal") else "compact",
        vocab_size=len(units.symbols),
        word_texts=texts,
        start=fst.start,
        blank_id=units.blank_id,
        loop_node=int(numbers[loop]) if loop >= 0 else -1,
        unknown_cost=grammar.unknown_cost,
        units_checksum=units_checksum(units.symbols),
    )


def _loop_node(lg: Fst, back_off: int, grammar: Grammar) -> int:
    """Where the empty history lies: one back-off away from the start, or the start itself."""
    if grammar.starts_empty:
        return lg.start
    arcs = slice(lg.first_arc[lg.start], lg.first_arc[lg.start + 1])
    targets = lg.targets[arcs][lg.ilabels[arcs] == back_off]
    return int(targets[0]) if len(targets) == 1 else -1
