"""How the words of a run are said: as its lexicon says, or as a network reads them out.

An utterance with a word whose sounds nobody knows teaches no phones. Of read books a word in eighty
is in no dictionary, which is a word in every third utterance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from earshot.language.g2p.letters_to_phones import load_letters_to_phones
from earshot.training.corpus.utterance import Utterance
from earshot.training.files.cmudict import Sounds, phone_names, read_lexicon
from earshot.training.recipe.config import PhoneConfig


def spoken_words(config: PhoneConfig, utterances: Iterable[Utterance]) -> Mapping[str, Sounds]:
    """The lexicon and, where the recipe names a network, what it makes of words that it lacks.

    Raises CorpusError for a lexicon, and CheckpointError for a network, that cannot be used.
    """
    lexicon = read_lexicon(config.lexicon)
    if config.letters is None:
        return lexicon
    words = {word for each in utterances for word in each.text.split()}
    return {**_read_out(config.letters, words - lexicon.keys(), phone_names(lexicon)), **lexicon}


def _read_out(letters: Path, words: Iterable[str], phones: Sounds) -> dict[str, Sounds]:
    said = load_letters_to_phones(letters, len(phones)).read_out(words)
    return {word: tuple(phones[unit - 1] for unit in units) for word, units in said.items()}
