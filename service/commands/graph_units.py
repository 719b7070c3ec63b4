"""What `earshot graph` spells words in: a model's pieces, or its phones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from decoder_kernels.graphs.build import Speller, Units
from decoder_kernels.graphs.lexicon import Spelling, read_lexicon
from models.config import PHONE_BLANK
from models.errors import UnencodableText
from models.units import SPECIAL_SYMBOLS
from service.errors import StartupError
from streaming.graph_fit import UnitKind

if TYPE_CHECKING:
    from models.checkpoint import LoadedModel

GRAPH_UNITS: tuple[UnitKind, ...] = ("pieces", "phones")


@dataclass(frozen=True)
class GraphSpelling:
    """How words are spelled, and in which units."""

    spell: Speller
    units: Units


def load(model: Path | None) -> LoadedModel:
    """A model, the bundled one for None. Raises ModelError."""
    from models.bundled import bundled_model_dir
    from models.checkpoint import load_model

    return load_model(model or bundled_model_dir())


def pieces_of(loaded: LoadedModel) -> Units:
    """What the model writes."""
    tokenizer = loaded.tokenizer
    return Units(tokenizer.units.symbols, loaded.model.config.blank_id, tokenizer.separator)


def spelling_of(loaded: LoadedModel, kind: UnitKind | None, lexicon: Path | None) -> GraphSpelling:
    """By the lexicon, or else as the model spells; None is phones where it has them.

    Raises StartupError for phones of a model that has none, GraphSourceError for a broken lexicon.
    """
    kind = kind or ("phones" if loaded.model.config.phones else "pieces")
    if kind == "phones" and not loaded.model.config.phones:
        raise StartupError(f"build: the model {loaded.name} has no phones")
    if lexicon is not None:
        return _by_lexicon(loaded, kind, lexicon)
    return _by_pronunciation(loaded) if kind == "phones" else _by_tokenizer(loaded)


def _by_lexicon(loaded: LoadedModel, kind: UnitKind, path: Path) -> GraphSpelling:
    """Its spellings say themselves where spaces are."""
    config = loaded.model.config
    symbols = config.phone_symbols if kind == "phones" else loaded.tokenizer.units.symbols
    blank_id = PHONE_BLANK if kind == "phones" else config.blank_id
    writable = {s: i for i, s in enumerate(symbols) if s not in SPECIAL_SYMBOLS}
    spellings = read_lexicon(path, writable)
    return GraphSpelling(lambda word: spellings.get(word, ()), Units(symbols, blank_id))


def _by_pronunciation(loaded: LoadedModel) -> GraphSpelling:
    pronouncer = loaded.pronouncer
    if pronouncer is None:
        raise StartupError(f"build: the model {loaded.name} has phones and no lexicon: --lexicon")

    def spell(word: str) -> Sequence[Spelling]:
        try:
            return pronouncer.pronounce(word)
        except UnencodableText:
            return ()

    return GraphSpelling(spell, Units(loaded.model.config.phone_symbols, PHONE_BLANK))


def _by_tokenizer(loaded: LoadedModel) -> GraphSpelling:
    def spell(word: str) -> Sequence[Spelling]:
        try:
            return [tuple(loaded.tokenizer.encode(word))]
        except UnencodableText:
            return ()

    return GraphSpelling(spell, pieces_of(loaded))
