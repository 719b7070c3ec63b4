"""The result as a table."""

from collections.abc import Sequence

from earshot.service.bench.measurements import Summary

_HEADINGS = (
    "streams", "holds", "partial p50/p95/p99 ms", "final p50/p95/p99 ms", "CPU s/audio s",
    "late", "lag growth ms", "WER to alone", "WER", "utterances", "failures", "send delay p99 ms",
)  # fmt: skip


def table(summaries: Sequence[Summary]) -> str:
    """One column per run: there are more numbers than runs."""
    columns = [_HEADINGS, *(_cells(summary) for summary in summaries)]
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _cells(summary: Summary) -> tuple[str, ...]:
    partial, final = summary.partial, summary.final
    cpu = summary.cpu_s_per_audio_s
    return (
        str(summary.streams),
        "yes" if summary.holds else "no",
        f"{partial.p50_ms:.0f} / {partial.p95_ms:.0f} / {partial.p99_ms:.0f}",
        f"{final.p50_ms:.0f} / {final.p95_ms:.0f} / {final.p99_ms:.0f}",
        "-" if cpu is None else f"{cpu:.4f}",
        f"{summary.late_share:.2%}",
        f"{summary.lag_growth_ms:.0f}",
        f"{summary.wer_to_alone:.2%}",
        "-" if summary.wer is None else f"{summary.wer:.2%}",
        str(summary.utterances),
        str(summary.failures),
        f"{summary.send_delay_p99_ms:.0f}",
    )
