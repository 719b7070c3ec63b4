"""What is put aside is chosen by a rule, and nobody meets it by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from earshot.training.corpus.manifest import read_speech
from earshot.training.corpus.put_aside import (
    CORPORA,
    choose,
    is_put_aside,
    name_of,
    put_aside,
    read_dev_speech,
    refuse_corpora,
)
from earshot.training.corpus.utterance import Utterance
from earshot.training.errors import CorpusError


def utterance(corpus: str, number: int, speaker: str) -> Utterance:
    return Utterance(Path(f"audio/{number}.opus"), corpus, speaker, 1.0, "yes")


def test_of_known_speakers_whole_ones_are_put_aside() -> None:
    speech = [utterance("books", number, f"reader{number % 10}") for number in range(60)]
    chosen = set(choose(speech))
    speakers = {each.speaker for each in speech if name_of(each) in chosen}
    assert len(speakers) == 2
    assert len(chosen) == 12


def test_of_unknown_or_few_speakers_recordings_are_put_aside() -> None:
    crowd = [utterance("orders", number, "?") for number in range(20)]
    few = [utterance("digits", number, f"speaker{number % 2}") for number in range(30)]
    names = choose([*crowd, *few])
    assert sum(name.startswith("orders/") for name in names) == 4
    assert sum(name.startswith("digits/") for name in names) == 6


def test_the_list_is_what_the_rule_says(speech_dir: Path) -> None:
    speech = read_speech(speech_dir / "dev.tsv")
    assert put_aside() == set(choose(speech))


def test_a_look_leaves_out_what_is_put_aside(speech_dir: Path) -> None:
    manifest = speech_dir / "dev.tsv"
    seen, aside = read_dev_speech(manifest), read_dev_speech(manifest, aside=True)
    assert not any(map(is_put_aside, seen))
    assert all(map(is_put_aside, aside))
    assert len(seen) + len(aside) == len(read_speech(manifest))
    readers = {each.speaker for each in aside if each.corpus == "librispeech"}
    assert len(readers) == 1
    assert readers.isdisjoint(each.speaker for each in seen)


@pytest.mark.parametrize("corpus", sorted(CORPORA))
def test_a_corpus_is_put_aside_as_a_whole(corpus: str) -> None:
    assert all(is_put_aside(utterance(corpus, number, "anyone")) for number in range(3))
    with pytest.raises(CorpusError, match=f"not for training: {corpus}"):
        refuse_corpora(["books", corpus])


def test_other_corpora_are_for_training() -> None:
    refuse_corpora(["books", "librispeech"])
