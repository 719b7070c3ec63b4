"""Language models of a folder that are open in this process: opened, counted and closed here."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.graph.graph import Graph
from earshot.decoder_kernels.lm.lm_image import COST_STEPS, NEVER, LmImage
from earshot.decoder_kernels.lm.lm_texts import MixedLm
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.language_models.held_lms import HeldLms
from earshot.streaming.language_models.lm_description import LmDescription, described
from earshot.streaming.language_models.lm_folder import Identity, LmFile, LmFolder
from earshot.streaming.lm_mix import LmChoice, LmMix

log = logging.getLogger(__name__)

MOST_OPEN = 128
"""Images that a process maps at a time: each takes one of the file handles, often 1,024."""

UNSEEN_NATS = 15.0
"""What a word costs that a model lacks, where neither it nor the graph says so."""

NAMES_SHOWN = 50


class OpenLms:
    """The images that streams hold, each opened once. For any thread.

    folder: None where there is none. graph: whose words are looked up; None where no graph is
    searched. most: images that may be open.
    """

    def __init__(
        self, folder: LmFolder | None, graph: Graph | None = None, most: int = MOST_OPEN
    ) -> None:
        self._folder = folder
        self._graph = graph
        self._most = most
        self._lock = threading.Lock()
        self._open: dict[Identity, LmImage] = {}
        self._holders: Counter[Identity] = Counter()
        self._described: dict[LmFile, LmDescription] = {}
        if folder is not None and graph is not None and graph.small_lm is None:
            log.warning("the graph does not hold its n-grams: language models are added to it")

    @classmethod
    def of(cls, path: Path | None, graph: Graph | None) -> OpenLms:
        """The models of a folder, if there is one."""
        return cls(None if path is None else LmFolder(path), graph)

    @property
    def count(self) -> int:
        """How many are open."""
        with self._lock:
            return len(self._open)

    def check(self, asked: LmChoice | None) -> None:
        """Raises InvalidStreamConfig for models that are not there, or damaged as far as one sees.

        Nothing is opened.
        """
        if isinstance(asked, LmMix):
            with self._lock:
                self._files(asked)

    def hold(self, asked: LmChoice | None) -> HeldLms:
        """The models that a stream names, as their files are now; none where it names none.

        Raises InvalidStreamConfig as `check` does, and where too many others are open.
        """
        if not isinstance(asked, LmMix):
            return HeldLms()
        with self._lock:
            files = self._files(asked)
            new = {file.identity for file in files} - self._open.keys()
            if len(self._open) + len(new) > self._most:
                raise InvalidStreamConfig(f"lm={asked}: {self._most} other models are in use here")
            opened = {file.identity: self._image(file) for file in files}
            self._open.update(opened)
            self._holders.update(list(opened))
        mix = MixedLm(tuple(opened.values()), asked.weights)
        return HeldLms(mix, partial(self._let_go, tuple(opened)))

    def descriptions(self) -> list[LmDescription]:
        """The models that may be named now, by name."""
        if self._folder is None:
            return []
        with self._lock:
            files = [file for file in self._folder.files().values() if file.header is not None]
        found = {file: self._description(file) for file in files}  # it takes a while
        self._described = {file: said for file, said in found.items() if said is not None}
        return list(self._described.values())

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
        found = [_file(self._folder, name) for name in asked.names]
        if len({file.identity for file in found}) < len(found):
            raise InvalidStreamConfig(f"lm={asked}: two of the names are one file")
        return found

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

    def _description(self, file: LmFile) -> LmDescription | None:
        """None where the file has changed under us: the next look finds it."""
        try:
            return self._described.get(file) or described(file, self._graph)
        except LmImageError as error:
            log.warning("language models: %s", error)
            return None


def _file(folder: LmFolder, name: str) -> LmFile:
    file = folder.find(name)
    if file is None:
        there_are = ", ".join(list(folder.files())[:NAMES_SHOWN]) or "none"
        raise InvalidStreamConfig(f"lm={name}: there is no such model here; there are: {there_are}")
    if file.header is None:
        raise InvalidStreamConfig(f"lm={name}: {file.fault}")
    return file
