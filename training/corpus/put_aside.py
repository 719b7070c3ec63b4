"""Development recordings that nobody looks at until a model is done.

Whatever is chosen by looking at development recordings fits them a little better than others. The
list beside this file names those that are left out of every look; `--put-aside` looks at them
alone, and belongs at the end. Whole corpora are put aside too: speech that is not read is neither
trained on nor tuned on, however often a model is judged by it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError

CORPORA = frozenset({"calls", "talks"})  # named so by `gather`: docs/training.md
LIST_FILE = Path(__file__).with_name("put_aside.txt")
SHARE = 5  # one of so many
UNKNOWN_SPEAKER = "?"


def name_of(utterance: Utterance) -> str:
    """The name of a recording in the list."""
    return f"{utterance.corpus}/{utterance.path.name}"


def choose(utterances: Iterable[Utterance]) -> list[str]:
    """The rule by which the list was made; see its head."""
    by_corpus: dict[str, list[Utterance]] = defaultdict(list)
    for each in utterances:
        by_corpus[each.corpus].append(each)
    return sorted(name for corpus in by_corpus.values() for name in _choose_in(corpus))


def _choose_in(corpus: Sequence[Utterance]) -> list[str]:
    speakers = {each.speaker for each in corpus}
    by_speaker = UNKNOWN_SPEAKER not in speakers and len(speakers) >= SHARE
    groups: dict[str, list[str]] = defaultdict(list)
    for each in corpus:
        group = f"{each.corpus}/{each.speaker}" if by_speaker else name_of(each)
        groups[group].append(name_of(each))
    ordered = sorted(groups, key=lambda group: hashlib.sha256(group.encode()).hexdigest())
    return [name for group in ordered[: round(len(ordered) / SHARE)] for name in groups[group]]


@lru_cache
def put_aside() -> frozenset[str]:
    """The names on the list."""
    lines = LIST_FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def is_put_aside(utterance: Utterance) -> bool:
    """Whether a recording is on the list, or of a corpus that is put aside as a whole."""
    return utterance.corpus in CORPORA or name_of(utterance) in put_aside()


def refuse_corpora(named: Iterable[str]) -> None:
    """Raises CorpusError where training would hear a corpus that is put aside."""
    if aside := CORPORA & set(named):
        raise CorpusError(f"put aside, and not for training: {', '.join(sorted(aside))}")


def read_dev_speech(manifest: Path, aside: bool = False) -> list[Utterance]:
    """Development utterances to look at; with `aside` only those that are put aside.

    Raises CorpusError like `read_speech`.
    """
    return [each for each in read_speech(manifest) if is_put_aside(each) == aside]
