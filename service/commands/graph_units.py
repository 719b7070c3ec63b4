"""Units in which `earshot graph` spells words: a model's tokens, or its phones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from earshot.language.graphs.build import Speller, Units
from earshot.language.graphs.lexicon import Spelling, read_lexicon
from earshot.models.config import PHONE_BLANK
from earshot.models.errors import UnencodableText
from earshot.models.tokenizers.units import SPECIAL_SYMBOLS, CtcUnits
from earshot.service.errors import StartupError
from earshot.streaming.words.graph_fit import UnitKind

if TYPE_CHECKING:
    from earshot.models.checkpoints.assembly import LoadedModel

GRAPH_UNITS: tuple[UnitKind, ...] = get_args(UnitKind)


@dataclass(frozen=True)
class GraphSpelling:
    """How words are spelled, and in which units."""

    spell: Speller
    units: Units


def load(model: Path | None) -> LoadedModel:
    """A model, the bundled one for None. Raises ModelError."""
    from earshot.models.bundled import bundled_model_dir
    from earshot.models.checkpoints.checkpoint import load_model

    return load_model(model or bundled_model_dir())


def kind_of(loaded: LoadedModel, asked: UnitKind | None) -> UnitKind:
    """Phones where the model has them and nobody says otherwise.

    Raises StartupError for phones of a model that has none, and for one that graphs do not fit.
    """
    has_phones = bool(_ctc_of(loaded).phones)
    if asked == "phones" and not has_phones:
        raise StartupError(f"the model {loaded.name} has no phones")
    return asked or ("phones" if has_phones else "tokens")


def units_of(loaded: LoadedModel, kind: UnitKind) -> Units:
    """What the model writes, or hears. Raises StartupError like `kind_of`."""
    ctc, tokenizer = _ctc_of(loaded), loaded.tokenizer
    if kind == "phones":
        return Units(ctc.phone_symbols, PHONE_BLANK)
    symbols = ctc.token_symbols(tokenizer.units.symbols)
    return Units(symbols, ctc.blank_id, tokenizer.separator)


def _ctc_of(loaded: LoadedModel) -> CtcUnits:
    if loaded.ctc is None:
        raise StartupError(f"the model {loaded.name} has no CTC head, which graphs are searched by")
    return loaded.ctc


def spelling_of(loaded: LoadedModel, kind: UnitKind, lexicon: Path | None) -> GraphSpelling:
    """By the lexicon, or else as the model spells.

    Raises StartupError for phones that nobody can spell in, GraphSourceError for a broken lexicon.
    """
    units = units_of(loaded, kind)
    if lexicon is not None:
        return _by_lexicon(units, lexicon)
    return (_by_pronunciation if kind == "phones" else _by_tokenizer)(loaded, units)


def _by_lexicon(units: Units, path: Path) -> GraphSpelling:
    """Its spellings say themselves where spaces are."""
    writable = {s: i for i, s in enumerate(units.symbols) if s not in SPECIAL_SYMBOLS}
    spellings = read_lexicon(path, writable)
    return GraphSpelling(lambda word: spellings.get(word, ()), replace(units, separator=None))


def _by_pronunciation(loaded: LoadedModel, units: Units) -> GraphSpelling:
    from earshot.language.g2p.pronouncer import pronouncer_of

    pronouncer = pronouncer_of(loaded)
    if pronouncer is None:
        raise StartupError(f"build: the model {loaded.name} has phones and no lexicon: --lexicon")

    def spell(word: str) -> Sequence[Spelling]:
        try:
            return pronouncer.pronounce(word)
        except UnencodableText:
            return ()

    return GraphSpelling(spell, units)


def _by_tokenizer(loaded: LoadedModel, units: Units) -> GraphSpelling:
    def spell(word: str) -> Sequence[Spelling]:
        try:
            return [tuple(loaded.tokenizer.encode(word))]
        except UnencodableText:
            return ()

    return GraphSpelling(spell, units)
