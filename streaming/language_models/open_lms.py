"""Language models of a folder that are open in this process: opened, counted and closed here."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import numpy as np
import torch

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.lm_header import NO_WORD
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NEVER, LmImage
from earshot.decoder_kernels.lm.lm_texts import MixedLm
from earshot.decoder_kernels.lm.word_classes import image_classes
from earshot.decoder_kernels.wfst.search_lm import NumberedLm
from earshot.streaming.entities import NO_ENTITIES, Entities
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.held_lms import HeldLms
from earshot.streaming.language_models.lm_description import (
    GraphTexts,
    LmDescription,
    described,
    knows_a_word,
)
from earshot.streaming.language_models.lm_folder import Identity, LmFile, LmFolder, identity_of
from earshot.streaming.language_models.searched_lms import OpenLm, SearchedLms, SearchedMix
from earshot.streaming.lm_mix import OWN, LmChoice, LmMix

log = logging.getLogger(__name__)

MOST_OPEN = 128
"""Images that a process maps at a time: each takes one of the file handles, often 1,024."""

UNSEEN_NATS = 15.0
"""What a word costs that a model lacks, where neither it nor the graph says so."""

NAMES_SHOWN = 50

MOST_LOOKS = 5
"""At files that others take the places of."""


class OpenLms:
    """The images that streams hold, each opened once. For any thread.

    folder: None where there is none. graph: whose words are looked up; None where no graph is
    searched. most: images that may be open. searched: what makes them models of the search itself;
    None where they rank what it finds.
    """

    def __init__(
        self,
        folder: LmFolder | None,
        graph: Graph | None = None,
        most: int = MOST_OPEN,
        searched: SearchedLms | None = None,
    ) -> None:
        self._folder = folder
        self._graph = graph
        self._most = most
        self._searched = searched
        self._lock = threading.Lock()
        self._open: dict[Identity, LmImage] = {}
        self._holders: Counter[Identity] = Counter()
        self._described: dict[LmFile, LmDescription] = {}
        if folder is not None and graph is not None and graph.small_lm is None:
            log.warning("the graph does not hold its n-grams: language models are added to it")

    @classmethod
    def of(
        cls,
        path: Path | None,
        graph: Graph | None,
        config: GraphSearchConfig,
        device: torch.device,
    ) -> OpenLms:
        """The models of a folder, if there is one, as the config asks for them, on a device.

        Raises UnusableGraph where a search is to ask them and cannot (`check_graph`).
        """
        searched = None
        if config.lm_in_search and graph is not None:
            searched = SearchedLms(graph, config, device)
        return cls(None if path is None else LmFolder(path), graph, searched=searched)

    @property
    def count(self) -> int:
        """How many are open."""
        with self._lock:
            return len(self._open)

    def check(self, asked: LmChoice | None, entities: Entities = NO_ENTITIES) -> None:
        """Raises InvalidStreamConfig for models that are not there, or damaged as far as one sees.

        So it does for entities of a class that one of them lacks; the graph's own, which has none,
        says nothing of classes. Nothing is opened that stays open.
        """
        if isinstance(asked, LmMix):
            with self._lock:
                files = self._files(asked)
            for file in files if entities else ():
                self._check_classes(file, entities)

    def hold(self, asked: LmChoice | None) -> HeldLms:
        """The models that a stream names, as their files are now; none where it names none.

        Where a search asks them it takes a while (`SearchedLms`). Raises InvalidStreamConfig as
        `check` does, for a model that knows no word of the graph, and where too many are open.
        """
        if not isinstance(asked, LmMix):
            return HeldLms()
        with self._lock:
            models = self._models(asked)
            opened = {file.identity: image for file, image in models}
            self._open.update(opened)
            self._holders.update(list(opened))
        with ExitStack() as on_failure:
            on_failure.callback(self._let_go, tuple(opened))
            numbered = self._numbered(models, asked)
            on_failure.pop_all()
        return self._held(models, asked, numbered)

    def hold_open(self, asked: LmMix) -> HeldLms | None:
        """The models if others hold them all, and nothing is to be waited for; else None."""
        with self._lock, suppress(InvalidStreamConfig):  # `hold` says so
            files = self._files(asked)
            if not self._open.keys() >= {file.identity for file in files}:
                return None
            models = [(file, self._open[file.identity]) for file in files]
            numbered = () if self._searched is None else self._searched.numbered(models)
            if numbered is None:
                return None
            self._holders.update(file.identity for file in files)
            return self._held(models, asked, numbered)
        return None

    def descriptions(self) -> list[LmDescription]:
        """The models that may be named now, by name."""
        if self._folder is None:
            return []
        with self._lock:
            files = [file for file in self._folder.files().values() if file.header is not None]
        words = None if self._graph is None else GraphTexts(self._graph)
        found = {file: self._description(file, words) for file in files}  # it takes a while
        self._described = {file: said for file, said in found.items() if said is not None}
        return list(self._described.values())

    def _numbered(self, models: Sequence[OpenLm], asked: LmMix) -> tuple[NumberedLm, ...]:
        """The models as a search asks them, which reads the texts of their classes; checked."""
        try:
            numbered = () if self._searched is None else self._searched.number(models)
            self._check_words(models, numbered)
            return numbered
        except LmImageError as error:
            raise InvalidStreamConfig(f"lm={asked}: {error}") from error

    def _held(
        self, models: Sequence[OpenLm], asked: LmMix, numbered: tuple[NumberedLm, ...]
    ) -> HeldLms:
        """What a stream is given, which counts as a holder already."""
        own = None if self._graph is None else self._graph.small_lm
        images = asked.filled(own, (image for _, image in models))
        give_back = partial(self._let_go, [file.identity for file, _ in models])
        searched = None
        if self._searched is not None and numbered:
            large = asked.filled(self._searched.small, numbered)
            searched = SearchedMix(self._searched, large, asked.weights)
        return HeldLms(MixedLm(images, asked.weights), give_back, searched)

    def _let_go(self, identities: Sequence[Identity]) -> None:
        """The only place where an image is closed: its last holder is gone."""
        with self._lock:
            self._holders.subtract(identities)
            for identity in identities:
                if self._holders[identity] <= 0:
                    del self._holders[identity], self._open[identity]

    def _files(self, asked: LmMix) -> list[LmFile]:
        if self._folder is None:
            raise InvalidStreamConfig(f"lm={asked}: there is no folder of language models here")
        if OWN in asked.names and (self._graph is None or self._graph.small_lm is None):
            raise InvalidStreamConfig(
                f"lm={asked}: the graph does not hold its n-grams, so {OWN} cannot be mixed"
            )
        found = [self._file(self._folder, name) for name in asked.others]
        if len({file.identity for file in found}) < len(found):
            raise InvalidStreamConfig(f"lm={asked}: two of the names are one file")
        return found

    def _file(self, folder: LmFolder, name: str) -> LmFile:
        file = folder.find(name)
        if file is None:
            if self._searched is not None:
                self._searched.forget(name)
            usable = [each.name for each in folder.files().values() if each.header is not None]
            there_are = ", ".join(usable[:NAMES_SHOWN]) or "none"
            raise InvalidStreamConfig(
                f"lm={name}: there is no such model here; there are: {there_are}"
            )
        if file.header is None:
            raise InvalidStreamConfig(f"lm={name}: {file.fault}")
        return file

    def _models(self, asked: LmMix) -> list[OpenLm]:
        """The files, and of each the image that is open, or else one that nobody holds yet.

        What is open goes by the files' identities: where another file takes a name between the look
        and the opening, the look is repeated.
        """
        for _ in range(MOST_LOOKS):
            files = self._files(asked)
            new = {file.identity for file in files} - self._open.keys()
            if len(self._open) + len(new) > self._most:
                raise InvalidStreamConfig(f"lm={asked}: {self._most} other models are in use here")
            models = [(file, self._image(file)) for file in files]
            if all(_is_of(image, file) for file, image in models):
                return models
        raise InvalidStreamConfig(f"lm={asked}: replaced again and again while it is opened")

    def _check_words(self, models: Sequence[OpenLm], numbered: Sequence[NumberedLm]) -> None:
        """Refuse a model that would call each of the graph's words unknown, as one in capitals.

        numbered: the same models, of whose words nothing has to be looked up then; or none.
        """
        if self._graph is None:
            return
        for place, (file, image) in enumerate(models):
            known = (
                bool(np.any(numbered[place].numbers[1:] != NO_WORD))
                if numbered
                else knows_a_word(image, self._graph.word_texts)
            )
            if not known and not image_classes(image):
                raise InvalidStreamConfig(
                    f"lm={file.name}: it knows none of the words that are searched here: is its "
                    "text in other capitals?"
                )

    def _check_classes(self, file: LmFile, entities: Entities) -> None:
        try:
            has = image_classes(LmImage(file.path))
        except LmImageError as error:
            raise InvalidStreamConfig(f"lm={file.name}: {error}") from error
        for name in entities.classes:
            if name not in has:
                there_are = ", ".join(list(has)[:NAMES_SHOWN]) or "none"
                raise InvalidStreamConfig(
                    f"entities: lm={file.name} has no class {name}; its classes: {there_are}"
                )

    def _image(self, file: LmFile) -> LmImage:
        """The image that is open, or else one that nobody holds yet."""
        try:
            return self._open.get(file.identity) or LmImage(file.path, self._unknown_cost)
        except LmImageError as error:
            raise InvalidStreamConfig(f"lm={file.name}: {error}") from error

    @property
    def _unknown_cost(self) -> int:
        """In steps, of models that have no unknown word."""
        nats = self._graph.unknown_cost if self._graph is not None else 0.0
        return min(round((nats if nats > 0 else UNSEEN_NATS) * COST_STEPS), NEVER)

    def _description(self, file: LmFile, words: GraphTexts | None) -> LmDescription | None:
        """None where the file has changed under us: the next look finds it."""
        try:
            return self._described.get(file) or described(
                file, self._graph, words, in_search=self._searched is not None
            )
        except LmImageError as error:
            log.warning("language models: %s", error)
            return None


def _is_of(image: LmImage, file: LmFile) -> bool:
    return image.found is not None and identity_of(image.found) == file.identity
