"""A corpus as a whole, spoken by `tests/fake_engine.sh`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import soundfile

from earshot.training.corpus.manifest import MANIFEST_COLUMNS, read_speech
from earshot.training.synthetic.errors import EngineMissing, FolderTaken, SynthesisError
from earshot.training.synthetic.maker import Amount, Maker
from earshot.training.synthetic.plan import Plan
from earshot.training.synthetic.sayings.saying import Saying
from earshot.training.synthetic.sentences import Sentences

NONE = Sentences(())
PLAN = Plan(7, {"digits": 1.0, "coffee": 1.0})

pytestmark = pytest.mark.usefixtures("fake_engines")


def digests(folder: Path) -> dict[str, str]:
    """Of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Five recordings."""
    Maker(tmp_path / "corpus", PLAN, NONE).make(Amount(5))
    return tmp_path / "corpus"


def test_training_reads_the_manifest(corpus: Path) -> None:
    utterances = read_speech(corpus / "manifest.tsv")
    prompts = [PLAN.prompt(index, NONE) for index in range(5)]
    assert [u.text for u in utterances] == [prompt.saying.text for prompt in prompts]
    assert [u.speaker for u in utterances] == [prompt.speaker for prompt in prompts]
    assert {u.corpus for u in utterances} == {"synthetic-digits", "synthetic-coffee"}
    for utterance in utterances:
        info = soundfile.info(utterance.path)
        assert info.samplerate == 16_000
        assert info.duration == pytest.approx(utterance.seconds, abs=1e-3)


def test_the_manifest_has_the_slots_of_orders(corpus: Path) -> None:
    header, *rows = (corpus / "manifest.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == list(MANIFEST_COLUMNS)
    for index, row in enumerate(rows):
        slots = row.split("\t")[-1]
        assert (json.loads(slots) if slots else {}) == PLAN.prompt(index, NONE).saying.slots


@pytest.mark.parametrize("amount", [Amount(5), Amount(seconds=8.0)])
def test_workers_change_nothing(tmp_path: Path, amount: Amount) -> None:
    for workers in (1, 3):
        made = Maker(tmp_path / str(workers), PLAN, NONE, workers).make(amount)
        assert amount.reached(made)
    assert digests(tmp_path / "1") == digests(tmp_path / "3")


def test_a_longer_corpus_begins_with_the_shorter_one(corpus: Path) -> None:
    short = digests(corpus)
    made = Maker(corpus, PLAN, NONE).make(Amount(7))
    long = digests(corpus)
    assert made.count == 7
    assert {name: long[name] for name in short if name.startswith("audio")} == {
        name: digest for name, digest in short.items() if name.startswith("audio")
    }


def test_finished_files_are_not_made_again_and_broken_ones_are(
    corpus: Path, fake_engines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = digests(corpus)
    first, second, third, *_ = sorted(corpus.rglob("*.opus"))
    first.write_bytes(first.read_bytes()[:-10])
    second.unlink()
    kept = third.stat().st_mtime_ns
    Maker(corpus, PLAN, NONE).make(Amount(5))
    assert digests(corpus) == whole
    assert third.stat().st_mtime_ns == kept


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(made: object) -> None:
        if made.count == 3:
            raise Interrupted

    for folder in ("once", "twice"):
        maker = Maker(tmp_path / folder, PLAN, NONE, workers=2)
        if folder == "twice":
            with pytest.raises(Interrupted):
                maker.make(Amount(5), interrupt)
            assert not (tmp_path / folder / "manifest.tsv").exists()
        maker.make(Amount(5))
    assert digests(tmp_path / "once") == digests(tmp_path / "twice")


def test_what_is_no_good_is_left_out_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "silence nine")
    for _ in range(2):  # the second time from the journal
        made = Maker(tmp_path / "corpus", PLAN, NONE).make(Amount(8))
        texts = [u.text for u in read_speech(made.manifest)]
        assert (made.count, len(texts)) == (8, 8)
        assert not any("nine" in text for text in texts)
        assert made.rejected
        assert all("nine" in reason and "silent" in reason for reason in made.rejected)


def test_too_much_that_is_no_good_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "failure e")
    with pytest.raises(SynthesisError, match=r"21 of \d+ recordings are no good; the last one by "):
        Maker(tmp_path / "corpus", PLAN, NONE, workers=2).make(Amount(50))


def test_another_version_of_an_engine_is_another_corpus(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE_VERSION", "2")
    with pytest.raises(FolderTaken, match="other engine_versions"):
        Maker(corpus, PLAN, NONE).make(Amount(5))


def test_nothing_is_written_where_an_engine_is_missing(tmp_path: Path, fake_engines: Path) -> None:
    (fake_engines / "flite").unlink()
    with pytest.raises(EngineMissing, match="flite"):
        Maker(tmp_path / "corpus", PLAN, NONE).make(Amount(5))
    assert not (tmp_path / "corpus").exists()


def test_sentences_need_text(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="text files"):
        Maker(tmp_path, Plan(1), NONE)
    Maker(tmp_path, Plan(1), Sentences([Saying("a sentence")]))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"count": 1, "seconds": 1.0},
        {"count": 0},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
    ],
)
def test_an_amount_is_one_positive_number(wrong: dict[str, float]) -> None:
    with pytest.raises(SynthesisError):
        Amount(**wrong)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SynthesisError, match="cannot go on"):
        Maker(tmp_path / "file" / "corpus", PLAN, NONE).make(Amount(1))
