"""The WFST search in plain Python: exact, simple, slow. The kernels are compared with it.

Costs are integers (``wfst_options.fixed``), so no order of additions can change one. A token's
history is a dict from word sequences to how much more than the cheapest they cost: what the
kernels' backpointers spell out when they are followed. What a large language model adds is in
search_lm_oracle.py.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from prefix_oracle import PhraseStates, common_prefix_length
from search_lm_oracle import END, START_WORD, SearchLmOracle

from earshot.decoder_kernels.boosting.phrase_trie import ROOT
from earshot.decoder_kernels.boosting.word_boost import WordBoostTable
from earshot.decoder_kernels.graph.epsilon_order import epsilon_order
from earshot.decoder_kernels.graph.graph import Arc, Graph
from earshot.decoder_kernels.graph.wfst_options import WfstOptions, fixed

Words = tuple[int, ...]
Histories = dict[Words, int]


class Key(NamedTuple):
    """What tells tokens apart; ``label`` is 0 in blank, and in explicit graphs."""

    node: int
    label: int
    context: int
    words: int = 0

    @property
    def place(self) -> tuple[int, int, int]:
        """All but the words."""
        return self[:3]


@dataclass(frozen=True)
class Token:
    """``best`` is the cheapest history with the frame of each word."""

    cost: int
    histories: Mapping[Words, int]
    best: tuple[tuple[int, int], ...]


class Candidate(NamedTuple):
    """One way to a key: from a token of the last frame or, by epsilon, from a key of this one."""

    cost: int
    by_epsilon: bool
    source: Key
    word: int


class WfstOracle:
    """One stream. Cut its frames into chunks anywhere: the result is the same."""

    def __init__(
        self,
        graph: Graph,
        options: WfstOptions,
        table: WordBoostTable | None = None,
        lm: SearchLmOracle | None = None,
    ) -> None:
        self._graph, self._options, self._frame = graph, options, 0
        self._table: WordBoostTable | None = None
        self._lm, self._rests = lm, lm
        self._levels: list[int] = epsilon_order(graph).level.tolist()
        self._set_table(table)
        self._candidates: dict[Key, list[Candidate]] = {}
        words = lm.cut(START_WORD) if lm else 0
        self.tokens: dict[Key, Token] = {Key(graph.start, 0, ROOT, words): Token(0, {(): 0}, ())}

    def set_boost(self, table: WordBoostTable | None) -> None:
        """Another table; phrases and OOV words under way are forgotten."""
        self._candidates = defaultdict(list)
        for key, token in self.tokens.items():
            cost = token.cost + fixed(self._automaton.pending(key.context))
            node = key.node if key.node < self._graph.num_nodes else self._graph.loop_node
            target = Key(node, key.label, ROOT, key.words)
            self._candidates[target].append(Candidate(cost, False, key, 0))
        if self._frame and any(each and each.members for each in (self._table, table)):
            self._rests = None
        self._set_table(table)
        self._keep_the_best()

    def set_lm(self, lm: SearchLmOracle | None) -> None:
        """Another language model, or none; tokens stay, and their words are cut anew."""
        self._candidates = defaultdict(list)
        for key, token in self.tokens.items():
            words = START_WORD if self._frame == 0 else key.words
            target = key._replace(words=lm.cut_anew(words) if lm else 0)
            self._candidates[target].append(Candidate(token.cost, False, key, 0))
        self._lm, self._rests = lm, lm if self._frame == 0 else None
        self._set_members()
        self._keep_the_best()

    def _set_members(self) -> None:
        """Have the models know the words of the table."""
        unknown = self._graph.unknown_cost
        self._lm = self._lm and self._lm.with_members(self._table, unknown)
        self._rests = self._rests and self._lm

    def _set_table(self, table: WordBoostTable | None) -> None:
        self._table = table
        self._set_members()
        self._automaton = PhraseStates(table.automaton if table else None)
        self._oov_arcs: dict[int, list[Arc]] = defaultdict(list)
        for arc in table.oov_arcs if table else ():
            end = self._graph.loop_node if arc.target < 0 else self._graph.num_nodes + arc.target
            weight = float(np.float32(arc.weight))  # as the search keeps it
            moved = Arc(arc.source + self._graph.num_nodes, arc.label, arc.word, weight, end)
            source = moved.source if arc.source else self._graph.loop_node
            self._oov_arcs[source].append(moved)

    def advance(self, log_probs: Sequence[Sequence[float]]) -> None:
        """Search some frames, each of V log-probabilities."""
        if log_probs and self._frame == 0:
            self._candidates = defaultdict(list)
            for key in self.tokens:
                self._candidates[key].append(Candidate(0, False, key, 0))
            self._close()
            self._keep_the_best()
        for row in log_probs:
            self._candidates = defaultdict(list)
            self._expand(self._label_costs(row))
            self._close()
            self._keep_the_best()
            self._frame += 1

    def _label_costs(self, row: Sequence[float]) -> dict[int, int]:
        """Cost of each label that is possible in this frame."""
        blank = self._graph.blank_id
        skipped = row[blank] > self._options.skip_log_prob
        return {
            token + 1: fixed(-(p * self._options.acoustic_scale))
            for token, p in enumerate(row[: self._graph.vocab_size])
            if p != -float("inf") and (token == blank or not skipped)
        }

    def _expand(self, costs: Mapping[int, int]) -> None:
        explicit = self._graph.topology == "explicit"
        blank = self._graph.blank_id + 1
        for key, token in self.tokens.items():
            if not explicit and blank in costs:
                self._offer(key._replace(label=0), key, token.cost + costs[blank])
            if key.label and key.label in costs:
                self._offer(key, key, token.cost + costs[key.label])
            for arc in self._arcs(key.node):
                if not arc.label or arc.label not in costs:
                    continue
                if self._graph.topology == "normal" and arc.label == key.label:
                    continue
                label = 0 if explicit else arc.label
                self._take(arc, key, token.cost + costs[arc.label], label, by_epsilon=False)

    def _close(self) -> None:
        """Follow epsilon arcs, each level when its costs are final."""
        for level in range(max(self._levels)):
            bests = self._bests()
            for key in [key for key in self._candidates if self._level(key) == level]:
                cost = min(self._candidates[key]).cost
                if cost > bests[key.place]:
                    continue
                for arc in self._arcs(key.node):
                    if not arc.label:
                        self._take(arc, key, cost, key.label, by_epsilon=True)

    def _bests(self) -> dict[tuple[int, int, int], float]:
        """By place, what keys there may cost: the history beam above the cheapest."""
        bests: dict[tuple[int, int, int], float] = {}
        for key, found in self._candidates.items():
            most = min(found).cost + (self._lm.beam if self._lm else math.inf)
            bests[key.place] = min(bests.get(key.place, most), most)
        return bests

    def _level(self, key: Key) -> int:
        return self._levels[key.node] if key.node < self._graph.num_nodes else 0

    def _arcs(self, node: int) -> Iterator[Arc]:
        graph = self._graph
        if node < graph.num_nodes:
            for arc in range(int(graph.first_arc[node]), int(graph.first_arc[node + 1])):
                yield Arc(
                    node,
                    int(graph.labels[arc]),
                    int(graph.words[arc]),
                    float(graph.weights[arc]),
                    int(graph.targets[arc]),
                )
        yield from self._oov_arcs.get(node, ())

    def _take(self, arc: Arc, source: Key, cost: int, label: int, *, by_epsilon: bool) -> None:
        cost += fixed(arc.weight * self._options.graph_scale)
        context, words = source.context, source.words
        if arc.word and self._lm:
            cost += self._lm.paid(words, arc.word)
            words = self._lm.after(words, arc.word)
        if arc.word:
            context = self._automaton.step(source.context, arc.word)
            cost += fixed(self._automaton.pending(source.context))
            cost -= fixed(self._automaton.pending(context))
            cost -= fixed(self._automaton.completed(context))
        target = Key(arc.target, label, context, words)
        self._offer(target, source, cost, arc.word, by_epsilon=by_epsilon)

    def _offer(
        self, target: Key, source: Key, cost: int, word: int = 0, *, by_epsilon: bool = False
    ) -> None:
        self._candidates[target].append(Candidate(cost, by_epsilon, source, word))

    def _keep_the_best(self) -> None:
        """Prune, then join histories. A frame that nothing survives is left out."""
        bests = self._bests()
        costs = {key: min(found).cost for key, found in self._candidates.items()}
        ranked = sorted((cost, key) for key, cost in costs.items() if cost <= bests[key.place])
        if not ranked:
            return
        limit = ranked[0][0] + self._options.fixed_beams[0]
        kept = [entry for entry in ranked if entry[0] <= limit]
        if len(kept) > self._options.max_active:
            kept = kept[: self._options.max_active]
            limit = kept[-1][0]
        tokens: dict[Key, Token] = {}
        for key in sorted(self._candidates, key=self._level):
            tokens[key] = self._joined(key, min(limit, bests[key.place]), tokens)
        self.tokens = {key: tokens[key] for _, key in kept}

    def _joined(self, key: Key, limit: float, made: Mapping[Key, Token]) -> Token:
        """The token of a key, with the histories of all candidates that are good enough."""
        first, *others = sorted(self._candidates[key])
        _, lattice_beam = self._options.fixed_beams
        histories: Histories = {}
        for candidate in [first, *others]:
            delta = candidate.cost - first.cost
            if candidate is not first and (candidate.cost > limit or delta > lattice_beam):
                continue
            source = (made if candidate.by_epsilon else self.tokens)[candidate.source]
            for words, more in source.histories.items():
                extended = (*words, candidate.word) if candidate.word else words
                if delta + more <= lattice_beam:
                    histories[extended] = min(histories.get(extended, delta + more), delta + more)
        source = (made if first.by_epsilon else self.tokens)[first.source]
        emitted = ((first.word, self._frame),) if first.word else ()
        return Token(first.cost, histories, (*source.best, *emitted))

    def ends(self, finalize: bool) -> tuple[dict[Key, int], bool]:
        """What each token costs as a result, and whether these are at final nodes."""
        pending = {
            key: token.cost + fixed(self._automaton.pending(key.context))
            for key, token in self.tokens.items()
        }
        finals = self._graph.finals
        reached = {
            key: cost
            + fixed(float(finals[key.node]) * self._options.graph_scale)
            + (self._lm.price(key.words, END) if self._lm else 0)
            for key, cost in pending.items()
            if key.node < self._graph.num_nodes and finals[key.node] != float("inf")
        }
        return (reached, True) if finalize and reached else (pending, False)

    def best(self, finalize: bool) -> tuple[Token, int]:
        """The cheapest token and what it costs as a result."""
        ends, _ = self.ends(finalize)
        cost, key = min((cost, key) for key, cost in ends.items())
        return self.tokens[key], cost

    def nbest(self, finalize: bool) -> list[tuple[int, Words]]:
        """All results within lattice_beam of the best, by cost, then words.

        What the gain limit took is given to those that are listed.
        """
        ends, _ = self.ends(finalize)
        found: dict[Words, int] = {}
        for key, cost in ends.items():
            for words, more in self.tokens[key].histories.items():
                found[words] = min(found.get(words, cost + more), cost + more)
        limit = min(found.values()) + self._options.fixed_beams[1]
        rest = self._rests.rest if self._rests else lambda words: 0
        return sorted((cost + rest(words), words) for words, cost in found.items() if cost <= limit)

    def stable_length(self) -> int:
        """How many words the cheapest histories of all tokens begin with."""
        histories = ([word for word, _ in token.best] for token in self.tokens.values())
        return common_prefix_length(histories)
