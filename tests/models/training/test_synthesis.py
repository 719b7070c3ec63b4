"""Prompts for the synthesisers; the synthesisers themselves where they are installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import soundfile

from models.training.corpus import normalise_text, read_speech
from models.training.errors import CorpusError
from models.training.synthesis import DIGITS, make_prompts, synthesise

installed = all(map(shutil.which, ("espeak-ng", "flite")))


def test_prompts_depend_on_the_seed_only() -> None:
    assert make_prompts(50, seed=3) == make_prompts(50, seed=3)
    assert make_prompts(50, seed=3) != make_prompts(50, seed=4)


def test_prompts_are_mostly_digits_by_many_voices() -> None:
    prompts = make_prompts(600, seed=3)
    words = [word for prompt in prompts for word in prompt.text.split()]
    assert set(words) >= set(DIGITS)
    assert sum(word in DIGITS for word in words) > 0.7 * len(words)
    assert len({prompt.voice for prompt in prompts}) > 60
    assert all(normalise_text(prompt.text) == prompt.text for prompt in prompts)


def test_a_missing_synthesiser_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CorpusError, match="espeak-ng"):
        synthesise(tmp_path, count=1, seed=1)


@pytest.mark.skipif(not installed, reason="needs espeak-ng and flite")
def test_recordings_say_what_the_manifest_says(tmp_path: Path) -> None:
    utterances = read_speech(synthesise(tmp_path, count=4, seed=3))
    assert [u.text for u in utterances] == [prompt.text for prompt in make_prompts(4, seed=3)]
    for utterance in utterances:
        info = soundfile.info(utterance.path)
        assert info.samplerate == 16_000
        assert info.duration == pytest.approx(utterance.seconds, abs=1e-3)
        assert info.duration > 0.15 * len(utterance.text.split())
