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
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.peers.published_whisper import PublishedWhisper
from benchmarks.recognition.told_marks import TaggedWord, Told, keys, tagged
from benchmarks.report import SHARED, below_claim, table, write_report
from benchmarks.server.spoken_hour import Samples, loud_part
from earshot import Transcriber
from earshot.language.marks.marked_words import marked_words
from earshot.language.marks.tagger_file import TAGGER_FILE, load_tagger
from earshot.language.marks.word_tagger import WordTagger
from earshot.models.bundled import bundled_model_dir
from earshot.service.library.utterance import Utterance
from earshot.training.synthetic.engines import Delivery, Flite
from earshot.training.synthetic.recording import SAMPLE_RATE_HZ, speak
from earshot.training.tagger.scores import KINDS, trivial_tags

DICTATED = Path(__file__).parent / "texts" / "dictated.txt"
VOICES = ("slt", "rms", "awb")
PAUSES_S = (0.3, 0.9)
CORPUS = "ljspeech"

_SENTENCE = re.compile(r"(?<=[.?])(?<!Mr\.)(?<!Mrs\.) ")


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
            words = marked_words(utterance.text)
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
        return self._transcriber.stream(blocks, rate_hz, punctuate=True, interim_results=False)

    def rows(self, name: str) -> list[list[str]]:
        """A line for each way to tell them."""
        return [[name, way, *told.columns()] for way, told in self.ways.items()]


def dictated(marks: HeardMarks, pauses: bool) -> None:
    """Each voice reads the texts of today, with pauses between sentences or without."""
    flite = Flite()
    flite.require()
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "spoken.wav"
        for voice, text in product(VOICES, DICTATED.read_text(encoding="utf-8").splitlines()):
            parts = _SENTENCE.split(text) if pauses else [text]
            spoken = [loud_part(speak(flite, part, Delivery(voice))) for part in parts]
            soundfile.write(recording, with_silences(spoken), SAMPLE_RATE_HZ)
            marks.take(recording, text)


def with_silences(parts: Sequence[Samples]) -> Samples:
    """Sentences with silence before, between and after them: 0.3 to 0.9 s, always the same."""
    drawn = np.random.default_rng(len(parts))
    lengths = (SAMPLE_RATE_HZ * drawn.uniform(*PAUSES_S, size=len(parts) + 1)).astype(int)
    silences = [np.zeros(length, np.float32) for length in lengths]
    between = chain.from_iterable(zip(parts, silences[1:], strict=True))
    return np.concatenate([silences[0], *between])


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
        below_claim(__doc__) + "\n\n"
        "F1 of each kind; names are capitals inside a sentence, without those of I. A word that "
        "was misheard takes its capital and its mark with it.\n\n"
        + table(["text", "by", "word errors", *KINDS], lines)
        + "\n"
    )
    print(write_report("heard_marks", "Capitals and marks of recognised speech", body))


if __name__ == "__main__":
    main()
