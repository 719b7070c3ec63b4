"""What the page of unread speech counts."""

from pathlib import Path

from benchmarks.recognition.served_wer import Heard
from benchmarks.recognition.unread_speech import corpora, rates
from earshot.training.corpus.utterance import Utterance


def said(corpus: str, speaker: str, text: str) -> Utterance:
    return Utterance(Path(f"{speaker}.opus"), corpus, speaker, 30.0, text)


CHOSEN = [
    said("talks", "ann", "one two"),
    said("talks", "bob", "one two three four"),
    said("calls", "cy", "yes"),
]


def test_corpora_are_counted() -> None:
    assert corpora(CHOSEN) == [["talks", "2", "2", "1.0", "6"], ["calls", "1", "1", "0.5", "1"]]


def test_rates_are_told_for_both_corpora_then_each_and_its_speakers() -> None:
    heard = Heard(CHOSEN, ["one two", "one three four", "no"])
    rows = [[row[0], row[1].split()[0]] for row in rates({16: heard})]
    assert rows == [
        ["both", "28.6"], ["**talks**", "16.7"], ["ann", "0.0"], ["bob", "25.0"],
        ["**calls**", "100.0"], ["cy", "100.0"],
    ]  # fmt: skip
