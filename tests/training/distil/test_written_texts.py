"""Texts that a teacher writes of recordings, kept where they agree with transcripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from earshot.training.corpus.manifest import Utterance
from earshot.training.distil.written_texts import WrittenTexts, batch_tokens

WORDS = ("low", "high", "Low.", "mid")
SAID = ("low high", "mid", "low", "")
WRITTEN = {0: [2, 1], 1: [0], 2: [0], 3: [0]}  # agrees but for a capital and a stop; does not; ...
Open = Callable[..., WrittenTexts]


class Writer:
    """Writes what is planned, and notes for how many."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def write(self, memory: torch.Tensor, lengths: torch.Tensor) -> list[list[int]]:
        self.asked.append(len(memory))
        return [WRITTEN[int(row[0, 0])] for row in memory]


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def opened(tmp_path: Path, writer: Writer) -> Open:
    utterances = [
        Utterance(Path(f"{number}.flac"), "books", "her", 1.0, text)
        for number, text in enumerate(SAID)
    ]
    clips = [torch.full((3,), float(number)) for number in range(len(SAID))]
    teacher = SimpleNamespace(device="cpu", of_whole=lambda wave: wave.unsqueeze(1))
    tokenizer = SimpleNamespace(decode=lambda tokens: " ".join(WORDS[each] for each in tokens))

    def open_texts(most_errors: float = 0.1, made_by: str = "her") -> WrittenTexts:
        writing = (teacher, writer, tokenizer)
        path = tmp_path / "made" / "texts.jsonl"
        return WrittenTexts(path, utterances, clips, writing, most_errors, made_by)

    return open_texts


def test_only_texts_that_agree_but_for_capitals_and_marks_are_used(opened: Open) -> None:
    assert opened().of([0, 1, 2, 3]) == [(2, 1), None, (0,), None]


def test_a_text_is_written_once(opened: Open, writer: Writer) -> None:
    opened().of([0, 1])
    again = opened()
    assert again.of([1, 2, 0]) == [None, (0,), (2, 1)]
    again.of([0, 0])
    assert writer.asked == [2, 1]


@pytest.mark.parametrize("damage", ["{", '{"recording": "1.flac", "made_by": "her"}', "[1]"])
def test_a_line_that_was_cut_is_written_again(
    opened: Open, writer: Writer, tmp_path: Path, damage: str
) -> None:
    opened().of([0])
    with (tmp_path / "made" / "texts.jsonl").open("a") as lines:
        lines.write(damage + "\n")
    assert opened().of([1, 0]) == [None, (2, 1)]
    assert writer.asked == [1, 1]


def test_another_transcript_is_looked_at_anew(
    opened: Open, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened().of([1]) == [None]
    texts = opened()
    monkeypatch.setattr(
        texts, "_utterances", [replace(each, text="low") for each in texts._utterances]
    )
    assert texts.of([1]) == [(0,)]
    assert writer.asked == [1, 1]


def test_another_teacher_writes_anew(opened: Open, writer: Writer) -> None:
    opened().of([0])
    opened(made_by="him").of([0])
    assert writer.asked == [1, 1]


def test_a_batch_foretells_texts_and_their_ends_but_no_prompt() -> None:
    tokens, wanted = batch_tokens([(1, 2), (3,)], prompt=(8, 9), end=7)
    assert tokens.tolist() == [[8, 9, 1, 2, 7], [8, 9, 3, 7, 7]]
    assert wanted.tolist() == [[False, True, True, True], [False, True, True, False]]
