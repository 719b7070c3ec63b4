"""The identity of a run: what has to stay the same while it goes on.

A run is its recipe's values and what they were applied to. Files may lie elsewhere, as on another
machine; the end of the schedule may move; and how often a run is looked at changes nothing in it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from earshot.models.tokenizers.tokenizer import Tokenizer
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import TrainingStateError
from earshot.training.files.made_of import file_checksum
from earshot.training.recipe.checkpoint_config import CheckpointConfig
from earshot.training.recipe.config import NetworkConfig, Recipe

Identity: TypeAlias = dict[str, Any]
# The rate only needs to know the end of a schedule when it decays.
OPTIMISER_MAY_CHANGE = {"optimiser.decay_from_step", "optimiser.total_steps", "optimiser.threads"}
ROUNDING = {"optimiser.precision"}  # another processor may have another
PLACES = {
    "data.train_manifest",
    "data.dev_manifest",
    "data.noise_manifest",
    "data.more_manifests",
    "data.work_dir",
    "network.decoder_texts",
    "phones.lexicon",
    "phones.letters",
    "start.model",
    "start.whisper",
    "distil.whisper",
    "distil.untranscribed_manifests",
}
KEEPING = {"distil.keep_frames", "distil.most_gigabytes"}
FOR_DECODING = {"chunk_size", "chunk_sizes", "lead_in_ms", "flush_with_silence"}
RENAMED = {"units.pieces": "units.tokens", "pieces": "tokenizer"}
"""What runs that were saved earlier call it."""
ADDED: Mapping[str, Any] = {
    "distil.sentence_corpora": [],
    "network.decoder": "own",
    "network.decoder_tokens": None,
    "network.language": "en",
    "optimiser.min_chunk_frames": 1,
    "optimiser.min_left_frames": 0,
    "optimiser.group_rates": {},
    "optimiser.frozen_groups": [],
    "optimiser.frozen_steps": 0,
}
"""What they did not say, because there was nothing else."""
MAY_CHANGE = {
    "name",
    *OPTIMISER_MAY_CHANGE,
    *ROUNDING,
    *PLACES,
    *KEEPING,
    *(f"checkpoints.{each.name}" for each in dataclasses.fields(CheckpointConfig)),
    *(
        f"network.{each.name}"
        for each in dataclasses.fields(NetworkConfig)
        if each.name in FOR_DECODING or each.name.startswith("decoding_")
    ),
}


def recipe_values(sections: Mapping[str, Any], may_change: Collection[str]) -> Identity:
    """The values of a recipe, as `asdict` gives it, by `section.key`; not those that may change."""
    found: Identity = {}
    for name, value in sections.items():
        inner = value.items() if isinstance(value, dict) else ()
        found.update({f"{name}.{key}": each for key, each in inner} if inner else {name: value})
    return {name: value for name, value in found.items() if name not in may_change}


def run_identity(recipe: Recipe, utterances: Iterable[Utterance], tokenizer: Tokenizer) -> Identity:
    """The identity of a run of `recipe` on these utterances. Raises CorpusError."""
    lexicon = None if recipe.phones is None else file_checksum(recipe.phones.lexicon)
    letters = None if recipe.phones is None else recipe.phones.letters
    return {
        **recipe_values(dataclasses.asdict(recipe), MAY_CHANGE),
        "start": recipe.start is not None,
        "recordings": checksum(
            "\t".join((each.path.name, each.corpus, each.speaker, str(each.seconds), each.text))
            for each in utterances
        ),
        "units": units_checksum(tokenizer),
        "phones.lexicon": lexicon,
        "phones.letters": None if letters is None else file_checksum(letters),
    }


def units_checksum(tokenizer: Tokenizer) -> str:
    """Checksum of the units in their order."""
    return checksum(tokenizer.units.symbols)


def checksum(lines: Iterable[str]) -> str:
    """Checksum of lines of text."""
    found = hashlib.sha256()
    for line in lines:
        found.update(f"{line}\n".encode())
    return found.hexdigest()


def require_same(path: Path, there: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Raises TrainingStateError, naming what differs, unless the run in `path` is ours."""
    there = _plain({**ADDED, **{RENAMED.get(key, key): value for key, value in there.items()}})
    ours = _plain({**ADDED, **ours})
    different = sorted(key for key in {**there, **ours} if there.get(key) != ours.get(key))
    if different:
        raise TrainingStateError(
            f"{path} was saved by another recipe: other {', '.join(different)}. "
            "A new run needs a folder of its own"
        )


def _plain(identity: Mapping[str, Any]) -> Identity:
    """The identity as JSON keeps it: lists for tuples."""
    plain: Identity = json.loads(json.dumps(identity))
    return plain
