"""The synthetic speakers of a recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.corpus.manifest import read_speech
from earshot.training.synthetic.digits import synthesise


@pytest.mark.usefixtures("fake_engines")
def test_a_recipe_gets_its_digits_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = synthesise(tmp_path, count=4, seed=3)
    utterances = read_speech(manifest)
    assert len(utterances) == 4
    assert {utterance.corpus for utterance in utterances} == {"synthetic"}
    monkeypatch.setenv("PATH", "")  # where it is there, no engine is needed
    assert synthesise(tmp_path, count=4, seed=3) == manifest
