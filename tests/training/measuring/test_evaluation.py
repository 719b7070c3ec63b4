"""Decoding for measurement, and tables of error rates."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest
import torch

from earshot.models.layers.ctc import collapse
from earshot.training.measuring.evaluation import MODES, Transcript, error_rate, rates_by
from earshot.training.measuring.greedy import length_batches
from earshot.training.measuring.prefix_beam import prefix_beam_search
from earshot.training.measuring.report import markdown_table, write_rates

BLANK = 0


def exact_scores(log_probs: torch.Tensor) -> dict[tuple[int, ...], float]:
    """Log-probability of every labelling, by adding up every path."""
    frames, vocabulary = log_probs.shape
    totals: dict[tuple[int, ...], float] = {}
    for path in product(range(vocabulary), repeat=frames):
        labels = tuple(collapse(path, BLANK))
        probability = math.exp(sum(log_probs[t, unit].item() for t, unit in enumerate(path)))
        totals[labels] = totals.get(labels, 0.0) + probability
    return {labels: math.log(total) for labels, total in totals.items()}


def test_an_unpruned_beam_adds_up_all_paths() -> None:
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(4))
    log_probs = logits.log_softmax(dim=1)
    expected = exact_scores(log_probs)
    found = prefix_beam_search(log_probs, beam_size=1000, blank_id=BLANK)
    # Each frame offers every unit, because there are fewer of them than the beam is wide.
    assert {prefix.tokens for prefix in found} == set(expected)
    for prefix in found:
        assert prefix.score == pytest.approx(expected[prefix.tokens], abs=1e-5)
    assert found[0].tokens == max(expected, key=expected.__getitem__)


def test_repeats_merge_unless_a_blank_parts_them() -> None:
    assert collapse([0, 3, 3, 0, 3, 5, 5], BLANK) == [3, 3, 5]


def test_length_batches_hold_every_index_once() -> None:
    counts = [700, 20, 5000, 350, 9000, 20]
    batches = list(length_batches(counts))
    assert sorted(index for batch in batches for index in batch) == list(range(6))
    for batch in batches:
        assert len(batch) == 1 or max(counts[i] for i in batch) * len(batch) <= 6000


def transcript(corpus: str, speaker: str, chunk: int, reference: str, found: str) -> Transcript:
    return Transcript(corpus, speaker, chunk, reference, dict.fromkeys(MODES, found))


@pytest.fixture
def transcripts() -> list[Transcript]:
    return [
        transcript("digits", "ann", -1, "one two", "one two"),
        transcript("digits", "bob", -1, "one two", "one"),
        transcript("digits", "ann", 8, "one two", "nine two"),
        transcript("digits", "bob", 8, "one two", "one two three four"),
    ]


def test_errors_are_counted_per_reference_word() -> None:
    rate = error_rate(["a b c", "d"], ["a x c", ""])
    assert (rate.wer, rate.words, rate.utterances) == (0.5, 4, 2)


def test_rates_are_grouped_by_what_is_asked(transcripts: list[Transcript]) -> None:
    rates = rates_by(transcripts, "attention", "speaker", "chunk_size")
    assert rates["bob", "-1"].wer == 0.5
    assert rates["ann", "-1"].wer == 0.0
    assert rates_by(transcripts, "attention", "chunk_size")["8",].wer == 0.75


def test_the_table_has_modes_by_chunk_sizes(transcripts: list[Transcript]) -> None:
    lines = markdown_table(transcripts, "digits").splitlines()
    assert lines[0] == "| digits | full | 8 |"
    assert lines[2:] == [f"| `{mode}` | 25.0 | 75.0 |" for mode in MODES]


def test_rates_are_written_by_speaker(transcripts: list[Transcript], tmp_path: Path) -> None:
    path = tmp_path / "rates.tsv"
    write_rates(path, transcripts)
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    assert header.split("\t")[:3] == ["corpus", "speaker", "mode"]
    assert len(rows) == len(MODES) * 2 * 2
    assert "digits\tbob\tattention\t8\t2\t1\t1.0000" in rows
