"""Texts that a teacher writes of recordings, kept where they agree with transcripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from earshot.models.whisper_decoder.pen import WrittenWord
from earshot.training.corpus.utterance import Utterance
from earshot.training.distil.targets import Taught
from earshot.training.distil.written_texts import WrittenTexts, batch_tokens

TOKENS = {"Mid": 0, "high.": 1, "Low": 2, "high": 3}
SAID = ("low high", "mid", "low", "")
WRITTEN = (["Low", "high."], ["low"], ["low"], ["low"])  # agrees but for its forms; does not; ...
Open = Callable[..., WrittenTexts]


class Scorer:
    """Writes what is planned, and notes the drafts that it gets."""

    def __init__(self) -> None:
        self.asked: list[list[list[str]]] = []

    def listen(self, memory: torch.Tensor, lengths: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(write=lambda drafts: self.write(drafts, memory))

    def write(self, drafts: list[list[str]], memory: torch.Tensor) -> list[list[WrittenWord]]:
        self.asked.append(drafts)
        return [
            [WrittenWord(form.rstrip(".").lower(), form) for form in WRITTEN[int(row[0, 0])]]
            for row in memory
        ]


@pytest.fixture
def scorer() -> Scorer:
    return Scorer()


@pytest.fixture
def opened(tmp_path: Path, scorer: Scorer) -> Open:
    utterances = [
        Utterance(Path(f"{number}.flac"), "books", "her", 1.0, text)
        for number, text in enumerate(SAID)
    ]
    tokens = SimpleNamespace(encode=lambda text: [TOKENS[form] for form in text.split()])

    def open_texts(
        most_errors: float = 0.1,
        made_by: str = "her",
        most_tokens: int = 9,
        sentences: tuple[str, ...] = (),
    ) -> WrittenTexts:
        path = tmp_path / "made" / "texts.jsonl"
        more = (most_errors, made_by, most_tokens, sentences)
        return WrittenTexts(path, utterances, scorer, tokens, *more)

    return open_texts


def taught(indices: list[int]) -> tuple[list[int], Taught]:
    """Recordings, and frames that tell which they are."""
    frames = torch.tensor(indices, dtype=torch.float32).reshape(-1, 1, 1)
    return indices, Taught(frames, torch.ones(len(indices)))


def test_only_transcripts_that_the_teacher_agrees_with_are_used(opened: Open) -> None:
    assert opened().of(*taught([0, 1, 2, 3])) == [(2, 1), None, (2,), None]


def test_one_sentence_that_the_teacher_mishears_is_written_plainly(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOKENS, "Mid.", 4)
    texts = opened(sentences=("books",))
    assert texts.of(*taught([0, 1, 2, 3])) == [(2, 1), (4,), (2,), None]
    assert opened(sentences=("talks",)).of(*taught([1])) == [None]


def test_a_text_that_the_decoder_has_no_room_for_is_left_out(opened: Open) -> None:
    assert opened(most_tokens=2).of(*taught([0, 2])) == [(2, 1), (2,)]
    assert opened(most_tokens=1).of(*taught([0, 2])) == [None, (2,)]


def test_the_words_are_the_transcripts_and_the_forms_the_teachers(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "WRITTEN", (["Mid", "high."],))
    assert opened(most_errors=0.5).of(*taught([0])) == [(2, 1)]


def test_a_text_is_written_once(opened: Open, scorer: Scorer) -> None:
    opened().of(*taught([0, 1]))
    again = opened()
    assert again.of(*taught([1, 2, 0])) == [None, (2,), (2, 1)]
    again.of(*taught([0, 0]))
    assert scorer.asked == [[["low", "high"], ["mid"]], [["low"]]]


@pytest.mark.parametrize("damage", ["{", '{"recording": "1.flac", "made_by": "her"}', "[1]"])
def test_a_line_that_was_cut_is_written_again(
    opened: Open, scorer: Scorer, tmp_path: Path, damage: str
) -> None:
    opened().of(*taught([0]))
    with (tmp_path / "made" / "texts.jsonl").open("a") as lines:
        lines.write(damage + "\n")
    assert opened().of(*taught([1, 0])) == [None, (2, 1)]
    assert [len(drafts) for drafts in scorer.asked] == [1, 1]


def test_another_transcript_is_looked_at_anew(
    opened: Open, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened().of(*taught([1])) == [None]
    texts = opened()
    monkeypatch.setattr(
        texts, "_utterances", [replace(each, text="low") for each in texts._utterances]
    )
    assert texts.of(*taught([1])) == [(2,)]
    assert [len(drafts) for drafts in scorer.asked] == [1, 1]


def test_another_teacher_writes_anew(opened: Open, scorer: Scorer) -> None:
    opened().of(*taught([0]))
    opened(made_by="him").of(*taught([0]))
    assert [len(drafts) for drafts in scorer.asked] == [1, 1]


def test_a_batch_foretells_texts_and_their_ends_but_no_prompt() -> None:
    tokens, wanted = batch_tokens([(1, 2), (3,)], prompt=(8, 9), end=7)
    assert tokens.tolist() == [[8, 9, 1, 2, 7], [8, 9, 3, 7, 7]]
    assert wanted.tolist() == [[False, True, True, True], [False, True, True, False]]
