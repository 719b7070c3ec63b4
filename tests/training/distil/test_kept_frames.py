"""A teacher's frames on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from earshot.training.corpus.utterance import Utterance
from earshot.training.distil.kept_frames import FRAMES_FILE, KeptFrames
from earshot.training.errors import CorpusError

LENGTHS = [3, 5, 2]
Open = Callable[..., KeptFrames]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    utterances = []
    for number in range(3):
        path = tmp_path / f"{number}.flac"
        path.write_bytes(b"sound")
        utterances.append(Utterance(path, "books", "her", 1.0, ""))

    def open_kept(made_by: str = "her", size: int = 4) -> KeptFrames:
        return KeptFrames(tmp_path / "kept", utterances, LENGTHS, size, made_by)

    return open_kept


def never() -> Tensor:
    raise AssertionError("they are there")


def test_frames_are_computed_once_and_read_after_that(opened: Open) -> None:
    frames = torch.randn(5, 4)
    first = opened().frames(1, lambda: frames)
    again = opened()
    assert again.there == 1
    assert torch.equal(again.frames(1, never), first)
    assert torch.equal(first, frames.half())


def test_recordings_do_not_write_over_each_other(opened: Open) -> None:
    kept = opened()
    for index, length in enumerate(LENGTHS):
        kept.frames(index, lambda n=length, i=index: torch.full((n, 4), float(i)))
    for index, length in enumerate(LENGTHS):
        assert torch.equal(kept.frames(index, never), torch.full((length, 4), float(index)).half())


def test_damaged_frames_are_computed_again(opened: Open, tmp_path: Path) -> None:
    opened().frames(0, lambda: torch.ones(3, 4))
    with (tmp_path / "kept" / FRAMES_FILE).open("r+b") as file:
        file.write(b"\x07")
    assert torch.equal(opened().frames(0, lambda: torch.zeros(3, 4)), torch.zeros(3, 4).half())


@pytest.mark.parametrize("change", [{"made_by": "him"}, {"size": 8}])
def test_another_teacher_begins_anew(opened: Open, change: dict[str, object]) -> None:
    opened().frames(0, lambda: torch.ones(3, 4))
    assert opened(**change).there == 0


def test_a_recording_that_has_changed_begins_anew(opened: Open, tmp_path: Path) -> None:
    opened().frames(0, lambda: torch.ones(3, 4))
    (tmp_path / "2.flac").write_bytes(b"other sound")
    assert opened().there == 0


def test_a_disk_without_room_is_told(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    full = type("Usage", (), {"free": 10})
    monkeypatch.setattr("shutil.disk_usage", lambda folder: full)
    with pytest.raises(CorpusError, match="keep_frames = false"):
        opened()
