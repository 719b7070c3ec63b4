"""Makes a corpus: many recordings at once, in order, resumable, and its manifest."""

from __future__ import annotations

import itertools
import json
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from earshot.training.corpus.manifest import (
    MANIFEST_COLUMNS,
    MANIFEST_FILE,
    manifest_writer,
)
from earshot.training.synthetic.engines import ENGINES
from earshot.training.synthetic.errors import BadRecording, SynthesisError
from earshot.training.synthetic.journal import Entry, Journal
from earshot.training.synthetic.plan import Plan, Prompt
from earshot.training.synthetic.recording import SAMPLE_RATE_HZ, encode, speak
from earshot.training.synthetic.sayings.kinds import SENTENCES
from earshot.training.synthetic.sentences import Sentences

AHEAD = 4  # prompts waiting for each worker: a long one holds nobody up, and memory is bounded
ALLOWED_REJECTED, ALLOWED_SHARE = 20, 0.02


@dataclass(frozen=True)
class Amount:
    """Where to stop: after `count` recordings or `seconds` of speech, whichever is given."""

    count: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.count is None) == (self.seconds is None):
            raise SynthesisError("needs either a count or a length")
        if not 0 < (self.count or self.seconds or 0) < math.inf:
            raise SynthesisError("the amount is not above 0, or has no end")

    def reached(self, made: Made) -> bool:
        """Whether that is enough."""
        if self.count is not None:
            return made.count >= self.count
        return made.seconds >= (self.seconds or 0.0)


@dataclass
class Made:
    """What a corpus holds: `size` in bytes, seconds by kind, why recordings were rejected."""

    manifest: Path
    count: int = 0
    size: int = 0
    seconds_by_kind: dict[str, float] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Seconds of speech."""
        return sum(self.seconds_by_kind.values())

    def add(self, prompt: Prompt, entry: Entry) -> None:
        """Count a recording."""
        self.count += 1
        self.size += entry.size
        seconds = entry.samples / SAMPLE_RATE_HZ
        self.seconds_by_kind[prompt.kind] = self.seconds_by_kind.get(prompt.kind, 0.0) + seconds

    def reject(self, prompt: Prompt, entry: Entry) -> None:
        """Count a prompt without a recording. Raises SynthesisError if they are too many."""
        self.rejected.append(f"{prompt.speaker}, {prompt.saying.text!r}: {entry.rejected}")
        if len(self.rejected) > ALLOWED_REJECTED + ALLOWED_SHARE * self.count:
            raise SynthesisError(
                f"{len(self.rejected)} of {len(self.rejected) + self.count} recordings are "
                f"no good; the last one by {self.rejected[-1]}"
            )


def _ignore(made: Made) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class Maker:
    """Makes the recordings of a plan in `folder`, `workers` at a time.

    Raises EngineMissing, FolderTaken, and SynthesisError if too many recordings are no good.
    """

    folder: Path
    plan: Plan
    sentences: Sentences
    workers: int = 1

    def __post_init__(self) -> None:
        if SENTENCES in self.plan.kinds and not self.sentences.sayings:
            raise SynthesisError("sentences need text files to draw from")

    def make(self, amount: Amount, progress: Callable[[Made], None] = _ignore) -> Made:
        """Makes what is missing, then the manifest. `progress` hears of every recording."""
        self.plan.required_engines()
        journal = Journal(self.folder, self.plan.identity(self.sentences))
        made = Made(self.folder / MANIFEST_FILE)
        unfinished = made.manifest.with_suffix(".tsv.part")
        with unfinished.open("w", encoding="utf-8", newline="") as output:
            writer = manifest_writer(output)
            writer.writerow(MANIFEST_COLUMNS)
            for prompt, entry in self._recordings(journal, lambda: amount.reached(made)):
                if entry.rejected:
                    made.reject(prompt, entry)
                else:
                    made.add(prompt, entry)
                    writer.writerow(self._row(prompt, entry))
                progress(made)
        unfinished.replace(made.manifest)
        return made

    def _recordings(
        self, journal: Journal, enough: Callable[[], bool]
    ) -> Iterator[tuple[Prompt, Entry]]:
        """Prompts and what became of them, in the order of their numbers."""
        waiting: deque[tuple[Prompt, Future[Entry]]] = deque()
        pool = ThreadPoolExecutor(self.workers)  # engines are processes, codecs release the lock
        try:
            for index in itertools.count():
                prompt = self.plan.prompt(index, self.sentences)
                known = journal.entries.get(index)
                waiting.append((prompt, pool.submit(self._recording, index, prompt, known)))
                if len(waiting) < AHEAD * self.workers:
                    continue
                prompt, future = waiting.popleft()
                entry = future.result()
                journal.add(entry)
                yield prompt, entry
                if enough():
                    return
        finally:
            pool.shutdown(cancel_futures=True)
            self._remove_unknown(journal, waiting)

    def _remove_unknown(
        self, journal: Journal, waiting: deque[tuple[Prompt, Future[Entry]]]
    ) -> None:
        """Files made ahead and not needed: how many depends on the workers, so none stays."""
        for _, future in waiting:
            if future.cancelled() or future.exception() is not None:
                continue
            entry = future.result()
            if entry.index not in journal.entries:
                (self.folder / entry.path).unlink(missing_ok=True)

    def _recording(self, index: int, prompt: Prompt, known: Entry | None) -> Entry:
        if known is not None and known.holds(self.folder):
            return known
        try:
            samples = speak(ENGINES[prompt.engine], prompt.saying.spoken, prompt.delivery)
            file = encode(samples)
        except BadRecording as error:
            return Entry(index, rejected=str(error))
        entry = Entry.of(index, file, len(samples))
        _write_whole(self.folder / entry.path, file)
        return entry

    def _row(self, prompt: Prompt, entry: Entry) -> list[str]:
        return [
            str(entry.path),
            self.plan.corpus_of(prompt.kind),
            prompt.speaker,
            f"{entry.samples / SAMPLE_RATE_HZ:.3f}",
            prompt.saying.text,
            json.dumps(prompt.saying.slots, sort_keys=True) if prompt.saying.slots else "",
        ]


def _write_whole(path: Path, file: bytes) -> None:
    """Either the whole file is there, or none of this name."""
    unfinished = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(file)
        unfinished.replace(path)
    except OSError as error:
        raise SynthesisError(f"cannot write {path}: {error}") from error
