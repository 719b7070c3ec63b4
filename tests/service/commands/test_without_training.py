"""The commands that the wheel has, without the package that it leaves out."""

import sys

import pytest

from earshot.service.commands.cli import main


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module of training can be imported, nor one that has imported it."""
    for name in list(sys.modules):
        if name.startswith(("earshot.training", "earshot.service.commands.synthesize")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "earshot.training", None)


@pytest.mark.usefixtures("wheel")
@pytest.mark.parametrize(
    "words",
    [["train", "r.toml"], ["lm", "train", "r.toml", "--out", "m"], ["synthesize", "made"]],
    ids=lambda words: words[0],
)
def test_what_needs_training_says_in_one_line_where_it_is(words: list[str], capsys) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "training comes with the repository, not with the wheel" in said
