"""Claim: finals have the capitals and marks that a reader expects, and partials nearly so.

What is dictated today (`texts/dictated.txt`, which nothing has learnt from) as Debian's flite says
it, in voices built from three people's recordings: with pauses between sentences as people make
them, and without, where a full stop sounds like a comma. And recordings of LJ Speech, old prose,
which end mid-sentence and which the network has learnt from. All of it is heard live.

The marks of finals come from the model's decoder; beside them, for the same words with their
pauses, those of the tagger, which partials have, and of the trivial rule: a capital first, a full
stop last, and "I". With ``--whisper FOLDER`` the published Whisper as well, by faster-whisper, from
whole recordings.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import soundfile

from benchmarks.peers.published_whisper import PublishedWhisper
from benchmarks.report import SHARED, table, write_report
from benchmarks.wfst.word_errors import WordErrors
from earshot import Transcriber
from earshot.language.marks.marked_words import Capital, Mark, MarkedWord, marked_words
from earshot.language.marks.pauses import END, UNKNOWN, pause_classes
from earshot.language.marks.tagger_file import TAGGER_FILE, load_tagger
from earshot.language.marks.word_tagger import Tag, WordTagger
from earshot.models.bundled import bundled_model_dir
from earshot.service.library.utterance import Utterance
from earshot.training.synthetic.engines import Delivery, Flite, run_program
from earshot.training.tagger.scores import KINDS, Scores, trivial_tags

DICTATED = Path(__file__).parent / "texts" / "dictated.txt"
VOICES = ("slt", "rms", "awb")
PAUSES_S = (0.3, 0.9)
SILENCE = 0.01
CORPUS = "ljspeech"
NOTHING = Tag(Capital.LOWER, Mark.NONE)

_SENTENCE = re.compile(r"(?<=[.?])(?<!Mr\.)(?<!Mrs\.) ")

Samples: TypeAlias = npt.NDArray[np.float32]
TaggedWord: TypeAlias = tuple[str, Tag]


class HeardMarks:
    """Recordings of written texts, and how well each way tells their capitals and marks."""

    def __init__(
        self, transcriber: Transcriber, tagger: WordTagger, whisper: PublishedWhisper | None
    ) -> None:
        self._transcriber = transcriber
        self._tagger = tagger
        self._whisper = whisper
        self.ways: dict[str, Told] = defaultdict(Told)

    def take(self, recording: Path, text: str) -> None:
        """Hear a recording of a text, and note what is told beside what is written."""
        found: dict[str, list[TaggedWord]] = {"finals": [], "tagger": [], "trivial": []}
        for utterance in self._heard(recording):
            words = marked_words(" ".join(word.text for word in utterance.words))
            if not words:
                continue
            texts = [word.text for word in words]
            found["finals"] += tagged(words)
            found["tagger"] += zip(texts, self._tagger.tag(keys(utterance)).tags, strict=True)
            found["trivial"] += zip(texts, trivial_tags(texts), strict=True)
        if self._whisper:
            found["Whisper"] = tagged(marked_words(self._whisper.hear(recording)))
        for way, words_told in found.items():
            self.ways[way].note(marked_words(text), words_told, self._tagger.forms)

    def _heard(self, recording: Path) -> Iterator[Utterance]:
        samples, rate_hz = soundfile.read(recording, dtype="float32")
        blocks = np.array_split(samples, 10 * len(samples) // rate_hz + 1)
        return iter(
            self._transcriber.stream(blocks, rate_hz, punctuate=True, interim_results=False)
        )

    def rows(self, name: str) -> list[list[str]]:
        """A line for each way to tell them."""
        return [[name, way, *told.columns()] for way, told in self.ways.items()]


class Told:
    """What one way tells of all recordings."""

    def __init__(self) -> None:
        self._scores = Scores()
        self._read: list[str] = []
        self._heard: list[str] = []

    def note(
        self, true: Sequence[MarkedWord], told: Sequence[TaggedWord], forms: Mapping[str, str]
    ) -> None:
        """Compare a recording's words."""
        aligned = list(pairs(true, told))
        self._scores.note([word for word, _ in aligned], [tag for _, tag in aligned], forms)
        self._read.append(" ".join(word.text for word in true))
        self._heard.append(" ".join(text for text, _ in told))

    def columns(self) -> list[str]:
        """Word errors in percent, and F1 of each kind."""
        errors = WordErrors.of(self._read, self._heard).percent
        return [f"{errors:.1f}", *(f"{self._scores.f1[kind]:.2f}" for kind in KINDS)]


def tagged(words: Sequence[MarkedWord]) -> list[TaggedWord]:
    """Words as they are written."""
    return [(word.text, Tag(word.capital, word.mark)) for word in words]


def keys(utterance: Utterance) -> list[tuple[str, int]]:
    """What the tagger is asked of an utterance: its words, and the pause after each."""
    asked: list[tuple[str, int]] = []
    classes = pause_classes([(word.start_s, word.end_s) for word in utterance.words], END)
    for word, pause in zip(utterance.words, classes, strict=True):
        parts = [part.text for part in marked_words(word.text)]
        asked += zip(parts, [UNKNOWN] * (len(parts) - 1) + [pause], strict=False)
    return asked


def pairs(
    true: Sequence[MarkedWord], told: Sequence[TaggedWord]
) -> Iterator[tuple[MarkedWord, Tag]]:
    """Words that were read beside tags of those that were heard in their place.

    What was heard in place of nothing, or not at all, has a partner without capital and mark.
    """
    texts = [text for text, _ in told]
    blocks = SequenceMatcher(None, [word.text for word in true], texts, autojunk=False)
    for _, a, a_end, b, b_end in blocks.get_opcodes():
        for place in range(max(a_end - a, b_end - b)):
            word = true[a + place] if a + place < a_end else None
            text, tag = told[b + place] if b + place < b_end else ("", NOTHING)
            yield word or MarkedWord(text, text, Capital.LOWER, Mark.NONE), tag


def dictated(marks: HeardMarks, pauses: bool) -> None:
    """Each voice reads the texts of today, with pauses between sentences or without."""
    flite = Flite()
    flite.require()
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "spoken.wav"
        for voice, text in product(VOICES, DICTATED.read_text(encoding="utf-8").splitlines()):
            parts = _SENTENCE.split(text) if pauses else [text]
            soundfile.write(recording, *joined([said(flite, voice, part) for part in parts]))
            marks.take(recording, text)


def said(flite: Flite, voice: str, text: str) -> tuple[Samples, int]:
    """A voice's samples and their rate, without the silence around."""
    wav = run_program(flite.command(text, Delivery(voice)))
    samples, rate_hz = soundfile.read(io.BytesIO(wav), dtype="float32")
    loud = np.flatnonzero(np.abs(samples) > SILENCE)
    return samples[loud[0] : loud[-1] + rate_hz // 20], rate_hz


def joined(parts: Sequence[tuple[Samples, int]]) -> tuple[Samples, int]:
    """Sentences with silence before, between and after them: 0.3 to 0.9 s, always the same."""
    drawn = np.random.default_rng(len(parts))
    rate_hz = parts[0][1]
    silences = [np.zeros(int(rate_hz * drawn.uniform(*PAUSES_S)), np.float32) for _ in parts]
    between = zip((samples for samples, _ in parts), silences, strict=True)
    return np.concatenate([silences[0], *chain.from_iterable(between)]), rate_hz


def books(marks: HeardMarks, manifest: Path, count: int) -> None:
    """So many recordings of LJ Speech."""
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        read = [row for row in rows if row["corpus"] == CORPUS]
    for each in read[:: max(len(read) // count, 1)][:count]:
        marks.take(manifest.parent / each["path"], each["text"])


def main() -> None:
    """Speak, hear, and write docs/benchmarks/heard_marks.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--speech", type=Path, default=SHARED / "speech" / "train.tsv")
    parser.add_argument("--count", type=int, default=60, help="recordings of LJ Speech")
    parser.add_argument("--whisper", type=Path, help="folder of CTranslate2's form")
    options = parser.parse_args()
    tagger = load_tagger(bundled_model_dir() / TAGGER_FILE)
    whisper = PublishedWhisper(options.whisper) if options.whisper else None
    texts: dict[str, Callable[[HeardMarks], None]] = {
        "of today, with pauses": partial(dictated, pauses=True),
        "of today, said on and on": partial(dictated, pauses=False),
        f"{options.count} of {CORPUS}": partial(
            books, manifest=options.speech, count=options.count
        ),
    }
    lines = []
    with Transcriber(threads=1) as transcriber:
        for name, take in texts.items():
            marks = HeardMarks(transcriber, tagger, whisper)
            take(marks)
            lines += marks.rows(name)
    body = (
        "F1 of each kind; names are capitals inside a sentence, without those of I. A word that "
        "was misheard takes its capital and its mark with it.\n\n"
        + table(["text", "by", "word errors", *KINDS], lines)
        + "\n"
    )
    print(write_report("heard_marks", "Capitals and marks of recognised speech", body))


if __name__ == "__main__":
    main()
