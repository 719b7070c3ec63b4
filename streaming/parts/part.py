"""A part of a model: a file beside it, and what decoding and streams get from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from earshot.models.config import DecodingConfig
from earshot.streaming.engine.pulse import Beat
from earshot.streaming.parts.option import Option
from earshot.streaming.stream_config import StreamConfig

if TYPE_CHECKING:  # without torch: commands read settings and parameters from here
    from earshot.streaming.parts.model_parts import ModelParts
    from earshot.streaming.parts.rescorer import Rescorer
    from earshot.streaming.results.hypothesis import Best
    from earshot.streaming.stream.active_stream import ActiveStream
    from earshot.streaming.stream.lane import Ending

T = TypeVar("T")

WeightOf: TypeAlias = Callable[[StreamConfig], float]
"""How much a scorer counts for a stream."""


class EndingStep(Protocol):
    """One step of the second pass, on what the steps before it have left. Engine thread only."""

    def __call__(self, endings: Sequence[Ending], beat: Beat) -> None:
        """Fill in or change `scored` of each, best first; see `Recognizer.finish` for `beat`.

        Done anew from the first step on where a step has raised.
        """


class PartialStep(Protocol):
    """A step on what segments say so far, before it is told. Engine thread only."""

    def __call__(self, streams: Sequence[ActiveStream], best: Sequence[Best]) -> list[Best]:
        """The best of each stream, its words told otherwise or written; see `results/retold.py`.

        It is called for each partial: what is done for one may not grow with what was said before.
        """


class EndScorer(Protocol):
    """How likely texts end where they do. Engine thread only."""

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[float]:
        """Natural log-probabilities of an end behind each text's words, of which there are some.

        Minus infinity where it cannot say.
        """


@dataclass(frozen=True)
class Part(Generic[T]):
    """One row of the table. A part that is fitted to a model is a `T`.

    name: of the setting that names its file, and in descriptions. title: as errors call it.
    file: its name beside the model. help: the setting's text; None for a part that nobody chooses,
        because it belongs to the model itself.
    needs: name of the part without which it is of no use; it stands before this one in the table.
    of_no_use: what follows `name=FILE` where that one is missing.
    unset: what follows the name of one of its settings where the part is missing.

    load: reads the file for a device's name; None where fitting reads it, from the model's own
        directory. fit: makes what was read fit for the model; it may ask for other parts.
    describe: a dataclass for `/v1/models`; None where there is nothing to say.
    settings, parameters: what operators and requests may set, for this part alone.
    check: raises InvalidStreamConfig where a stream of this search names the parameter in vain.

    recommended: the weight of its scores by the model's config. rescorer: makes what the second
        pass counts in (`rescorer.py`). tagger: makes what changes the words of finals (`retold`)
        after all scorers. partial_tagger: makes what does the same to partials. end_scorer: makes
        what says how likely texts end where they do.
    """

    name: str
    title: str
    file: str
    load: Callable[[Path, str], Any] | None
    fit: Callable[[Any, ModelParts], T]
    help: str | None = None
    needs: str | None = None
    of_no_use: str = ""
    unset: str = "is set, and there is no such part"
    describe: Callable[[T], object] | None = None
    settings: tuple[Option, ...] = ()
    parameters: tuple[Option, ...] = ()
    check: Callable[[str, StreamConfig, str], None] | None = None
    recommended: Callable[[DecodingConfig], float] | None = None
    rescorer: Callable[[T, WeightOf], Rescorer] | None = None
    tagger: Callable[[T], EndingStep] | None = None
    partial_tagger: Callable[[T], PartialStep] | None = None
    end_scorer: Callable[[T], EndScorer] | None = None

    def named_in(self, config: StreamConfig) -> list[str]:
        """Its parameters that a stream names, without those of the graph's own options."""
        fields: dict[str, Any] = {"weights": config.weights, "parts": config.parts}
        return [
            parameter.name
            for parameter in self.parameters
            if parameter.into[1] in fields.get(parameter.into[0], ())
        ]
