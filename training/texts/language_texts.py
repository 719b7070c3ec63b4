"""What the bundled language model is made of besides books: transcripts by corpus, and words.

``python -m earshot.training.texts.language_texts --speech TRAIN.TSV --dictionary CMUDICT
--out DIR`` writes ``CORPUS.txt`` for each corpus of a manifest, ``CORPUS.held_out.txt`` to tune
weights on, and
``words.txt``, the words of the dictionary: what is said today stands in no old book.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import refuse_corpora
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError, TrainingError

HELD_OUT_EVERY = 8
FEW_SPEAKERS = 8
"""Or none known: then it is utterances that are held out, and not speakers."""
POSSESSIVE = "'s"
WORD = re.compile("[a-z]+(?:'[a-z]+)*")


def by_corpus(utterances: Sequence[Utterance]) -> dict[str, list[Utterance]]:
    """Utterances with a transcript, by corpus, in the order of the manifest."""
    found: dict[str, list[Utterance]] = {}
    for each in utterances:
        if each.text:
            found.setdefault(each.corpus, []).append(each)
    return found


def split(utterances: Sequence[Utterance]) -> tuple[list[Utterance], list[Utterance]]:
    """Utterances to learn from, and one in eight held out: the words of other speakers."""
    speakers = sorted({each.speaker for each in utterances})
    apart = set(speakers[::HELD_OUT_EVERY]) if len(speakers) > FEW_SPEAKERS else set()
    held_out = [
        each
        for i, each in enumerate(utterances)
        if (each.speaker in apart if apart else i % HELD_OUT_EVERY == 0)
    ]
    left = set(map(id, held_out))
    return [each for each in utterances if id(each) not in left], held_out


def dictionary_words(path: Path) -> set[str]:
    """The words of a pronouncing dictionary, a word and its sounds on each line.

    Possessives are left out: of names they are legion, and those in use are in the texts. Raises
    CorpusError.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read the dictionary {path}: {error}") from error
    words = {line.split()[0] for line in lines if line.strip()}
    return {word for word in words if WORD.fullmatch(word) and not word.endswith(POSSESSIVE)}


def write(manifest: Path, dictionary: Path, output: Path) -> None:
    """Writes all files. Raises CorpusError."""
    output.mkdir(parents=True, exist_ok=True)
    words = sorted(dictionary_words(dictionary))
    (output / "words.txt").write_text("".join(f"{word}\n" for word in words))
    spoken = by_corpus(read_speech(manifest))
    refuse_corpora(spoken)
    for corpus, utterances in spoken.items():
        seen, held_out = split(utterances)
        for name, part in ((corpus, seen), (f"{corpus}.held_out", held_out)):
            (output / f"{name}.txt").write_text("".join(f"{each.text}\n" for each in part))


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files; 1 and a message if the manifest or the dictionary is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--speech", type=Path, required=True, help="manifest of training speech")
    parser.add_argument("--dictionary", type=Path, required=True, help="cmudict.dict")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    options = parser.parse_args(arguments)
    try:
        write(options.speech, options.dictionary, options.out)
    except TrainingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
