"""`python -m earshot.training pronunciations`: a lexicon and its network beside a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tiny_models import TINY, TINY_TOKENIZER

from earshot.language.g2p.pronouncer import pronouncer_of
from earshot.models.checkpoints.checkpoint import load_model
from earshot.models.checkpoints.own_format import save_model
from earshot.models.u2.u2 import U2Model
from earshot.training.__main__ import main

PHONES = ("AY", "D", "EH", "HH", "IH", "L", "M", "OW")


def saved_model(directory: Path, phones: tuple[str, ...]) -> Path:
    config = replace(TINY, phones=phones)
    save_model(directory, U2Model(config), TINY_TOKENIZER, "for the test")
    return directory


def test_a_model_then_says_the_words_of_the_lexicon(tmp_path: Path, lexicon: Path) -> None:
    directory = saved_model(tmp_path / "model", PHONES)
    assert main(["pronunciations", str(lexicon), "--model", str(directory)]) == 0
    pronouncer = pronouncer_of(load_model(directory))
    assert pronouncer is not None
    assert pronouncer.pronounce("low") == ((6, 8),)
    assert pronouncer.pronounce("hollow")


@pytest.mark.parametrize(("phones", "reason"), [((), "no phones"), (PHONES[1:], "AY")])
def test_a_model_that_cannot_say_them_is_refused(
    tmp_path: Path,
    lexicon: Path,
    capsys: pytest.CaptureFixture[str],
    phones: tuple[str, ...],
    reason: str,
) -> None:
    directory = saved_model(tmp_path / "model", phones)
    files = set(directory.iterdir())
    assert main(["pronunciations", str(lexicon), "--model", str(directory)]) == 1
    assert reason in capsys.readouterr().err
    assert set(directory.iterdir()) == files
