"""The parts of one loaded model, fitted to it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from earshot.models.checkpoints.assembly import LoadedModel
from earshot.models.native.precision import PrecisionChoice
from earshot.streaming.errors import InvalidEngineConfig
from earshot.streaming.parts.part import EndingStep, EndScorer, Part, PartialStep
from earshot.streaming.parts.rescorer import Rescorer
from earshot.streaming.parts.table import PARTS
from earshot.streaming.stream_config import StreamConfig

T = TypeVar("T")


class ModelParts:
    """Parts by name; each is fitted when it is first asked for.

    read: what `read_parts` has read. settings: what operators have set of parts besides weights and
        the graph search, for their `fit`. precision: what they asked of networks.

    Raises InvalidEngineConfig for a part that nobody knows, or without the one that it needs.
    """

    def __init__(
        self,
        model: LoadedModel,
        read: Mapping[str, object],
        settings: Mapping[str, object] | None = None,
        precision: PrecisionChoice = "auto",
    ) -> None:
        self.model = model.without_network()  # parts fit what is beside it
        self.settings = settings or {}
        self.precision: PrecisionChoice = precision
        self._read = dict(read)
        self._fitted: dict[str, object] = {}
        for name in read:
            needs = _known(name).needs
            if needs is not None and needs not in read:
                wanted = f"a {PARTS[needs].title}"
                raise InvalidEngineConfig(f"a {PARTS[name].title} is of no use without {wanted}")

    @property
    def names(self) -> frozenset[str]:
        """The parts that the model has."""
        return frozenset(self._read)

    def get(self, part: Part[T]) -> T | None:
        """A part that fits the model, or None. Raises what fitting raises (UnusableGraph)."""
        if part.name not in self._fitted:
            comes_along = part.help is None
            has_it = comes_along or part.name in self._read
            self._fitted[part.name] = part.fit(self._read.get(part.name), self) if has_it else None
            if part.name in self._read:
                self._read[part.name] = None  # what was read may be many times what fits
        return cast("T | None", self._fitted[part.name])

    def rescorers(self, weight_of: Callable[[str, StreamConfig], float]) -> list[Rescorer]:
        """What the second pass counts in. weight_of: a part's weight for a stream."""
        return [
            part.rescorer(self.get(part), _of_part(weight_of, name))
            for name, part in PARTS.items()
            if part.rescorer is not None and name in self._read
        ]

    def taggers(self) -> list[EndingStep]:
        """Steps that change the words of finals, after all that rank."""
        return [
            part.tagger(self.get(part))
            for name, part in PARTS.items()
            if part.tagger is not None and name in self._read
        ]

    def partial_taggers(self) -> list[PartialStep]:
        """Steps that change the words of partials."""
        return [
            part.partial_tagger(self.get(part))
            for name, part in PARTS.items()
            if part.partial_tagger is not None and name in self._read
        ]

    def end_scorer(self) -> EndScorer | None:
        """The first that there is."""
        for name, part in PARTS.items():
            if part.end_scorer is not None and name in self._read:
                scorer: EndScorer = part.end_scorer(self.get(part))
                return scorer
        return None

    def descriptions(self) -> dict[str, object]:
        """A description of each part; None for one that the model does not have."""
        return {
            name: part.describe(self.get(part)) if name in self._read else None
            for name, part in PARTS.items()
            if part.describe is not None
        }


def read_parts(files: Mapping[str, Path], device: str) -> dict[str, object]:
    """Read the files of parts by name, for a device's name.

    Raises what reading raises: UnusableGraph, ModelError; InvalidEngineConfig for unknown names.
    """
    loaders = {name: _known(name).load for name in files}
    return {name: load(files[name], device) for name, load in loaders.items() if load is not None}


def _known(name: str) -> Part[Any]:
    if name not in PARTS:
        raise InvalidEngineConfig(f"{name}: a model's parts are {', '.join(PARTS)}")
    return PARTS[name]


def _of_part(
    weight_of: Callable[[str, StreamConfig], float], name: str
) -> Callable[[StreamConfig], float]:
    return lambda config: weight_of(name, config)
