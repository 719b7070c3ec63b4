"""Word error rates as tables: tab-separated for programs, Markdown for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from earshot.training.measuring.evaluation import MODES, Transcript, rates_by

COLUMNS = ("corpus", "speaker", "mode", "chunk_size", "words", "utterances", "wer")


def write_rates(path: Path, transcripts: Sequence[Transcript]) -> None:
    """One line per corpus, speaker, mode and chunk size."""
    lines = ["\t".join(COLUMNS)]
    for mode in MODES:
        rates = rates_by(transcripts, mode, "corpus", "speaker", "chunk_size")
        for (corpus, speaker, chunk), rate in sorted(rates.items()):
            cells = (corpus, speaker, mode, chunk, rate.words, rate.utterances, f"{rate.wer:.4f}")
            lines.append("\t".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def chunk_name(chunk_size: int) -> str:
    """How tables call a chunk size."""
    return "full" if chunk_size < 0 else str(chunk_size)


def markdown_table(transcripts: Sequence[Transcript], corpus: str) -> str:
    """Word error rate in percent of one corpus: a row per mode, a column per chunk size."""
    chosen = [transcript for transcript in transcripts if transcript.corpus == corpus]
    chunks = sorted({t.chunk_size for t in chosen}, key=lambda size: (size > 0, -size))
    lines = [
        f"| {corpus} | " + " | ".join(map(chunk_name, chunks)) + " |",
        "|---|" + "---|" * len(chunks),
    ]
    for mode in MODES:
        rates = rates_by(chosen, mode, "chunk_size")
        cells = (f"{100 * rates[(str(chunk),)].wer:.1f}" for chunk in chunks)
        lines.append(f"| `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def markdown_report(transcripts: Sequence[Transcript]) -> str:
    """All corpora, one table each."""
    corpora = sorted({transcript.corpus for transcript in transcripts})
    return "\n\n".join(markdown_table(transcripts, corpus) for corpus in corpora) + "\n"
