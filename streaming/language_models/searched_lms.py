"""Language models by name as the search of a graph asks them: numbered, and mixed.

A word then costs what they say in place of what the graph's own model has said, while the graph is
searched (on-the-fly rescoring, Hori 2007; `SearchLm`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakValueDictionary

import torch

from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.lm_image import LmImage, Words
from earshot.decoder_kernels.wfst.search_lm import MAX_ORDER, MAX_WORDS, NumberedLm, SearchLm
from earshot.streaming.errors import InvalidEngineConfig, UnusableGraph
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.lm_folder import Identity, LmFile

log = logging.getLogger(__name__)

OpenLm: TypeAlias = tuple[LmFile, LmImage]

MOST_NUMBERED = 64
"""Models whose numbers of the graph's words are kept while no stream holds them: 4 bytes a word."""


@dataclass(frozen=True, eq=False)
class SearchedMix:
    """Models that a stream has named, for its search."""

    owner: SearchedLms
    large: tuple[NumberedLm, ...]
    shares: tuple[float, ...]

    def search_lm(self, scale: float, classes: Sequence[str] = ()) -> SearchLm:
        """What a search with this `graph_scale` takes; the same for all streams that ask the same.

        classes: whose members a stream names; those that no model has are none to the search. For
        one thread, the engine's.
        """
        return self.owner.search_lm(self, scale, classes)


class SearchedLms:
    """The models of one graph's search. Their words are found once: 0.2 s for 120,000.

    For any thread but the engine's and an event loop's, where it does not say otherwise. `device`
    is the search's. Raises UnusableGraph as `check_graph` does.
    """

    def __init__(self, graph: Graph, config: GraphSearchConfig, device: torch.device) -> None:
        self._small_image = check_graph(graph)
        self._texts = graph.word_texts
        self._config = config
        self._device = device
        self._lock = threading.Lock()
        self._small: NumberedLm | None = None
        self._numbers: dict[str, tuple[Identity, Words]] = {}
        self._numbered: WeakValueDictionary[Identity, NumberedLm] = WeakValueDictionary()
        self._made: WeakValueDictionary[
            tuple[tuple[NumberedLm, ...], tuple[float, ...], float, tuple[str, ...]], SearchLm
        ] = WeakValueDictionary()

    @property
    def small(self) -> NumberedLm | None:
        """The graph's own model, numbered with the first that was named."""
        return self._small

    def number(self, models: Sequence[OpenLm]) -> tuple[NumberedLm, ...]:
        """All models with their numbers, where the search's kernels read them.

        Nothing where one is of too high an order for a search. Raises what `NumberedLm.placed`
        raises, and LmImageError for a class whose text is no UTF-8.
        """
        if not can_search(models):
            return ()
        with self._lock:
            if self._small is None:
                small = NumberedLm.of(self._small_image, self._texts, is_resident=True)
                self._place(small)
                self._small = small
            return tuple(self._number(file, image) for file, image in models)

    def numbered(self, models: Sequence[OpenLm]) -> tuple[NumberedLm, ...] | None:
        """The same where others hold them all, else None; nobody is waited for."""
        if not can_search(models):
            return ()
        for file, _ in models:
            self._touch(file.name)
        found = [self._numbered.get(file.identity) for file, _ in models]
        held = tuple(each for each in found if each is not None)
        return held if len(held) == len(models) else None

    def forget(self, name: str) -> None:
        """Keep no numbers of a model that is gone; for any thread: nobody is waited for."""
        self._numbers.pop(name, None)

    def search_lm(self, mix: SearchedMix, scale: float, classes: Sequence[str] = ()) -> SearchLm:
        """See `SearchedMix.search_lm`: a search keeps what it has looked up for the same object."""
        key = mix.large, mix.shares, scale, tuple(classes)
        found = self._made.get(key)
        if found is None:
            assert self._small is not None  # since there is a mix
            found = SearchLm(
                self._small,
                mix.large,
                mix.shares,
                scale,
                gain_limit=self._config.lm_gain_limit,
                history_beam=self._config.lm_history_beam,
                classes=_had(mix.large, classes),
            )
            self._made[key] = found
        return found

    def _touch(self, name: str) -> None:
        """Have a model's numbers be the last that would be forgotten."""
        known = self._numbers.pop(name, None)
        if known is not None:
            self._numbers[name] = known

    def _number(self, file: LmFile, image: LmImage) -> NumberedLm:
        """The model that some stream holds, or else by the numbers that are known of its file."""
        held = self._numbered.get(file.identity)
        if held is not None:
            return held
        known = self._numbers.pop(file.name, None)
        is_same = known is not None and known[0] == file.identity
        numbers = known[1] if known is not None and is_same else image.find_words(self._texts)
        self._numbers[file.name] = file.identity, numbers  # the last that was asked for
        for name in list(self._numbers)[:-MOST_NUMBERED]:
            self.forget(name)
        found = NumberedLm(image, numbers)
        self._place(found)
        self._numbered[file.identity] = found
        return found

    def _place(self, model: NumberedLm) -> None:
        """Have the device see it: else the engine would wait for that."""
        if model.placed(self._device).is_copied:
            log.warning(
                "%s is copied to the host's memory: %s does not take it where it is mapped",
                model.image.name,
                self._device,
            )


def _had(models: Sequence[NumberedLm], classes: Sequence[str]) -> list[str]:
    """The classes that one of the models has."""
    return [name for name in classes if any(name in each.classes for each in models)]


def can_search(models: Sequence[OpenLm]) -> bool:
    """Whether none is of too high an order for a search."""
    return all(image.order <= MAX_ORDER for _, image in models)


def check_lm_in_search(config: GraphSearchConfig, graph: Graph | None) -> None:
    """Refuse to search with models where it cannot be done.

    Raises InvalidEngineConfig where no graph is searched; UnusableGraph as `check_graph` does.
    """
    if not config.lm_in_search:
        return
    if graph is None:
        raise InvalidEngineConfig("lm_in_search: this model searches no decoding graph")
    check_graph(graph)


def check_graph(graph: Graph) -> LmImage:
    """The model of a graph whose costs can be taken back while it is searched.

    Raises UnusableGraph for one that does not hold its n-grams, or is too large for a token's key.
    """
    small = graph.small_lm
    if small is None:
        raise UnusableGraph("it does not hold its n-grams, which lm_in_search asks for")
    if small.order > MAX_ORDER:
        raise UnusableGraph(
            f"its n-grams are of order {small.order}, lm_in_search takes {MAX_ORDER}"
        )
    if len(graph.word_texts) > MAX_WORDS:
        raise UnusableGraph(f"it has {len(graph.word_texts)} words, lm_in_search takes {MAX_WORDS}")
    return small
