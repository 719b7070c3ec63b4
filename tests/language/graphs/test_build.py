"""A graph says of every text what the language model says: by an oracle that knows no graphs."""

import itertools
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import kaldifst
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stepped_cases import Costs

from earshot.decoder_kernels.errors import GraphSourceError
from earshot.decoder_kernels.graph.graph import units_checksum
from earshot.language.graphs.build import Units, build_graph
from earshot.language.graphs.composition import compose_lexicon
from earshot.language.graphs.explicit import explicit_graph
from earshot.language.graphs.fst import read_fst, write_fst
from earshot.language.graphs.grammar import grammar_of
from earshot.language.graphs.lexicon import lexicon_fst
from earshot.language.ngrams.arpa import Arpa, NGram, read_arpa
from earshot.language.ngrams.monotone import monotone
from earshot.language.ngrams.stepped_model import STEP, stepped_model

BLANK, VOCAB_SIZE = 0, 3
UNITS = Units(["<blank>", "x", "y"], BLANK)
SEPARATED = Units(["<blank>", "x", "y", "_"], BLANK, separator=3)
WORDS = ("a", "b", "c")

NGrams = dict[tuple[str, ...], tuple[float, float]]


@dataclass
class Model:
    """A back-off model and the spellings of its words."""

    orders: list[NGrams]
    lexicon: dict[str, list[tuple[int, ...]]]

    def write(self, path: Path) -> Path:
        lines = ["\\data\\", *(f"ngram {i}={len(n)}" for i, n in enumerate(self.orders, 1))]
        for i, ngrams in enumerate(self.orders, 1):
            lines.append(f"\\{i}-grams:")
            lines += [
                f"{p} {' '.join(w)}" + (f" {b}" if i < len(self.orders) else "")
                for w, (p, b) in ngrams.items()
            ]
        path.write_text("\n".join([*lines, "\\end\\", ""]))
        return path

    @property
    def said(self) -> Costs:
        """What the model says once it is rounded and monotone."""
        texts = list(dict.fromkeys(word for words in self.orders[0] for word in words))
        numbers = {text: i for i, text in enumerate(texts)}
        orders = [
            {tuple(numbers[word] for word in words): NGram(*logs) for words, logs in ngrams.items()}
            for ngrams in self.orders
        ]
        return Costs.of(monotone(stepped_model(Arpa(texts, orders), self.lexicon)))

    def costs(self, words: tuple[str, ...]) -> float:
        """Of a text, in nats."""
        return self.said.sentence(words) * STEP

    def texts(self, tokens: tuple[int, ...]) -> set[tuple[str, ...]]:
        """All that a sequence of tokens can spell."""
        found = {()} if not tokens else set()
        for word, spellings in self.lexicon.items():
            for spelling in spellings:
                if tokens[: len(spelling)] == spelling:
                    found |= {(word, *rest) for rest in self.texts(tokens[len(spelling) :])}
        return found


LOGS = st.integers(-12, 0).map(lambda n: n / 4)
WEIGHTS = st.integers(-6, 2).map(lambda n: n / 4)


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Of any order, with holes: contexts and ends of n-grams may be missing."""
    words = draw(st.sets(st.sampled_from(WORDS), min_size=1))
    spelling = st.lists(st.integers(1, VOCAB_SIZE - 1), min_size=1, max_size=3).map(tuple)
    lexicon = {w: draw(st.lists(spelling, min_size=1, max_size=2)) for w in sorted(words)}
    unigrams = [("<s>",), ("</s>",), *((word,) for word in sorted(words))]
    orders = [{words: (draw(LOGS), draw(WEIGHTS)) for words in unigrams}]
    for order in range(2, draw(st.integers(1, 4)) + 1):
        middle = [sorted(words)] * (order - 2)
        every = itertools.product(["<s>", *sorted(words)], *middle, ["</s>", *sorted(words)])
        chosen = draw(st.lists(st.sampled_from(list(every)), unique=True, max_size=8))
        orders.append({ngram: (draw(LOGS), draw(WEIGHTS)) for ngram in chosen})
    return Model(orders, lexicon)


def build(model: Model, path: Path, units: Units = UNITS, **rest):
    lm = model.write(path / "lm.arpa")
    return build_graph(lm, lambda word: model.lexicon.get(word, ()), units, **rest)


def in_words(costs, graph) -> dict[tuple[str, ...], float]:
    return {tuple(graph.word_texts[w] for w in words): cost for words, cost in costs.items()}


many = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
few = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(model=models())
def test_lg_has_every_text_at_its_cost_and_no_other(model: Model, tmp_path, texts_of) -> None:
    graph = build(model, tmp_path).graph
    for length in range(5):
        for tokens in itertools.product(range(1, VOCAB_SIZE), repeat=length):
            expected = {words: model.costs(words) for words in model.texts(tokens)}
            assert in_words(texts_of(graph, tokens), graph) == expected


@few
@given(model=models(), rule=st.sampled_from(["compact", "normal"]))
def test_explicit_graph_is_lg_under_the_ctc_rule(
    model: Model, rule, tmp_path, texts_of, frames_to_tokens
) -> None:
    graph = build(model, tmp_path).graph
    explicit = explicit_graph(replace(graph, topology=rule), rule)
    assert build(model, tmp_path, form=f"explicit-{rule}").graph.num_arcs == explicit.num_arcs
    for length in range(5):
        for frames in itertools.product(range(VOCAB_SIZE), repeat=length):
            expected: dict[tuple[int, ...], float] = {}
            for tokens in frames_to_tokens(frames, rule):
                for words, cost in texts_of(graph, tokens).items():
                    expected[words] = min(cost, expected.get(words, math.inf))
            assert texts_of(explicit, frames) == expected


def textbook_topology(rule: str, first_symbol: int, num_symbols: int) -> kaldifst.StdVectorFst:
    """T as recipes write it, but with the disambiguation symbols passing in every state."""
    topology = kaldifst.StdVectorFst()
    for _ in range(VOCAB_SIZE):
        topology.add_state()
    topology.start = 0
    rows = [(0, BLANK + 1, 0, 0)]
    tokens = range(1, VOCAB_SIZE)
    for token in tokens:
        rows += [(0, token + 1, token + 1, token), (token, token + 1, 0, token)]
        if rule == "compact":
            rows.append((token, 0, 0, 0))
        else:
            rows.append((token, BLANK + 1, 0, 0))
            rows += [(token, other + 1, other + 1, other) for other in tokens if other != token]
    for state in range(VOCAB_SIZE):
        topology.set_final(state, 0.0 if rule == "normal" or state == 0 else math.inf)
        rows += [(state, 0, first_symbol + i, state) for i in range(num_symbols)]
    for source, label, output, target in rows:
        topology.add_arc(source, kaldifst.StdArc(label, output, 0.0, target))
    kaldifst.arcsort(topology, "olabel")
    return topology


@few
@given(model=models(), rule=st.sampled_from(["compact", "normal"]))
def test_explicit_graph_is_the_composition_of_the_recipes(
    model: Model, rule: str, tmp_path, texts_of, texts_of_fst
) -> None:
    graph = build(model, tmp_path, form=f"explicit-{rule}").graph
    word_ids = {word: i for i, word in enumerate(graph.word_texts) if i}
    back_off = len(graph.word_texts)
    letters = lexicon_fst(model.lexicon, word_ids, VOCAB_SIZE, back_off)
    grammar = grammar_of(
        monotone(stepped_model(read_arpa(tmp_path / "lm.arpa"), word_ids)), word_ids, back_off
    )
    write_fst(tmp_path / "lg.fst", compose_lexicon(letters.fst, grammar.fst, str))
    lg = kaldifst.StdConstFst.read(str(tmp_path / "lg.fst"))
    num_symbols = int(letters.fst.ilabels.max()) + 1 - letters.first_symbol
    topology = textbook_topology(rule, letters.first_symbol, num_symbols)
    kaldifst.StdConstFst(kaldifst.compose(topology, lg)).write(str(tmp_path / "tlg.fst"))
    tlg = read_fst(tmp_path / "tlg.fst")
    for length in range(5):
        for frames in itertools.product(range(VOCAB_SIZE), repeat=length):
            expected = texts_of_fst(tlg, [frame + 1 for frame in frames])
            assert texts_of(graph, frames) == expected


@few
@given(model=models())
def test_a_separator_stands_between_words_and_may_end_a_text(model, tmp_path, texts_of) -> None:
    graph = build(model, tmp_path, SEPARATED).graph
    for length in range(5):
        for tokens in itertools.product(range(1, VOCAB_SIZE + 1), repeat=length):
            runs = [
                tuple(g) for is_space, g in itertools.groupby(tokens, (3).__eq__) if not is_space
            ]
            text = list(itertools.chain(*((*run, 3) for run in runs)))
            expected: dict[tuple[str, ...], float] = {}
            if list(tokens) in (text, text[:-1]):
                spelled = [[w for w, s in model.lexicon.items() if run in s] for run in runs]
                expected = {words: model.costs(words) for words in itertools.product(*spelled)}
            assert in_words(texts_of(graph, tokens), graph) == expected


UNIGRAMS = {
    ("<s>",): (-99.0, -0.5),
    ("</s>",): (-1.0, 0.0),
    ("a",): (-0.5, -0.25),
    ("b",): (-1.5, -0.125),
    ("<unk>",): (-3.0, 0.0),
}
BIGRAMS = {("<s>", "a"): (-0.25, 0.0), ("a", "b"): (-0.75, 0.0), ("b", "</s>"): (-0.5, 0.0)}
SPELLINGS = {"a": [(1,)], "b": [(1, 2), (2,)]}
BIGRAM = Model([UNIGRAMS, BIGRAMS], SPELLINGS)


@pytest.mark.parametrize(
    ("tokens", "words", "log10_prob"),
    [
        ((), (), -0.5 - 1.0),
        ((1,), ("a",), -0.25 - 0.25 - 1.0),
        ((1, 1), ("a", "a"), -0.25 - 0.25 - 0.5 - 0.25 - 1.0),
        ((1, 2), ("a", "b"), -0.25 - 0.75 - 0.5),
        ((1, 2), ("b",), -0.5 - 1.5 - 0.5),
        ((1, 1, 2), ("a", "b"), -0.25 - 0.75 - 0.5),
    ],
)
def test_costs_are_those_added_up_by_hand(tokens, words, log10_prob, tmp_path, texts_of) -> None:
    graph = build(BIGRAM, tmp_path).graph
    cost = in_words(texts_of(graph, tokens), graph)[words]
    assert cost == pytest.approx(-log10_prob * math.log(10), abs=5 * STEP / 2)
    assert BIGRAM.costs(words) == cost


def test_a_graph_knows_what_it_was_built_for(tmp_path) -> None:
    graph = build(BIGRAM, tmp_path).graph
    assert graph.topology == "compact"
    assert graph.vocab_size == VOCAB_SIZE
    assert graph.units_checksum == units_checksum(UNITS.symbols)
    assert list(graph.word_texts) == ["<eps>", "a", "b"]
    assert build(BIGRAM, tmp_path, form="normal").graph.topology == "normal"
    assert build(BIGRAM, tmp_path, form="explicit-normal").graph.topology == "explicit"


def test_any_word_may_start_at_the_loop_with_an_empty_history(tmp_path, texts_of) -> None:
    graph = build(BIGRAM, tmp_path).graph
    assert graph.unknown_cost == round(3.0 * math.log(10) / STEP) * STEP
    from_loop = in_words(texts_of(replace(graph, start=graph.loop_node), (2,)), graph)
    assert from_loop["b",] == pytest.approx((1.5 + 0.5) * math.log(10), abs=STEP)


@few
@given(model=models())
def test_the_loop_is_where_the_history_is_empty(model: Model, tmp_path, texts_of) -> None:
    graph = build(model, tmp_path).graph
    from_loop = replace(graph, start=graph.loop_node)
    for tokens in itertools.product(range(1, VOCAB_SIZE), repeat=2):
        expected = {words: model.said.sentence(words, ()) * STEP for words in model.texts(tokens)}
        assert in_words(texts_of(from_loop, tokens), graph) == expected


def test_an_unknown_word_costs_as_much_as_the_rarest_if_the_model_has_none(tmp_path) -> None:
    unigrams = {words: costs for words, costs in UNIGRAMS.items() if words != ("<unk>",)}
    graph = build(Model([unigrams, BIGRAMS], SPELLINGS), tmp_path).graph
    assert graph.unknown_cost == round(1.5 * math.log(10) / STEP) * STEP


def test_words_without_spelling_are_left_out_and_named(tmp_path) -> None:
    model = Model([UNIGRAMS, BIGRAMS], {"b": [(2,)]})
    done = build(model, tmp_path)
    assert done.unspelled == ("a",)
    assert list(done.graph.word_texts) == ["<eps>", "b"]
    assert (done.words, done.ngrams, done.ngrams_used) == (1, 8, 4)


def test_only_the_words_asked_for_are_built(tmp_path) -> None:
    done = build(BIGRAM, tmp_path, only=["b", "z", "<s>"])
    assert list(done.graph.word_texts) == ["<eps>", "b"]
    assert done.unknown == ("z",)


def test_a_history_with_nothing_but_back_off_is_no_state(tmp_path) -> None:
    assert build(BIGRAM, tmp_path).redundant_states == 0
    done = build(Model([UNIGRAMS, {("<s>", "a"): (-0.25, 0.0)}], SPELLINGS), tmp_path)
    assert done.redundant_states == 2  # after a, after b


def test_progress_is_told(tmp_path) -> None:
    heard = []
    build(BIGRAM, tmp_path, progress=lambda what, done: heard.append((what, done)))
    stages = list(dict.fromkeys(what for what, _ in heard))
    assert stages[:2] == ["spelling the words", "building the grammar"]
    assert "laying out the graph" in stages


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (Model([UNIGRAMS, BIGRAMS], {}), "none of its 2 words can be spelled"),
        (Model([{("a",): (-1.0, 0.0)}], SPELLINGS), "no </s>"),
        (
            Model([{("</s>",): (-1.0, 0.0), ("<s>",): (-1.0, 0.0)}], SPELLINGS),
            "none of its 0 words",
        ),
    ],
)
def test_models_that_allow_no_text_are_refused(model: Model, complaint: str, tmp_path) -> None:
    with pytest.raises(GraphSourceError, match=complaint):
        build(model, tmp_path)


def test_building_says_that_it_needs_kaldifst(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "kaldifst", None)
    with pytest.raises(GraphSourceError, match=r"pip install 'earshot-asr\[graph\]'"):
        build(BIGRAM, tmp_path)


def test_arrays_of_a_built_graph_are_read_only(tmp_path) -> None:
    graph = build(BIGRAM, tmp_path).graph
    assert not any(
        array.flags.writeable for array in vars(graph).values() if isinstance(array, np.ndarray)
    )


@pytest.mark.parametrize("spelling", [(), (0,), (3,), (-1,), (1,) * 257])
def test_spellings_that_no_model_can_write_are_refused(spelling, tmp_path) -> None:
    with pytest.raises(GraphSourceError, match="'a'"):
        build(Model([UNIGRAMS, BIGRAMS], {"a": [spelling]}), tmp_path)
