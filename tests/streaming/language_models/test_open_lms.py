"""The life of models in a folder: added, replaced, removed while streams hold them."""

import errno
import logging
import os
import weakref
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tiny_lms import SMALL, TENANT, alike, write_lm

from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.graph_config import GraphSearchConfig
from earshot.streaming.language_models.held_lms import HeldLms, StreamLms
from earshot.streaming.language_models.lm_folder import LOOK_EVERY_S, LmFolder
from earshot.streaming.language_models.open_lms import OpenLms
from earshot.streaming.lm_mix import LmMix

LAW = LmMix.read("law")


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def look_again(self) -> None:
        self.now_s += LOOK_EVERY_S


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lms(tmp_path: Path, clock: Clock) -> OpenLms:
    return OpenLms(LmFolder(tmp_path, clock), most=3)


def unigram(held: HeldLms, word: str) -> int:
    """What a word costs alone, in steps."""
    assert held.mix is not None
    [image] = held.mix.images
    return image.find(0, int(image.find_words([word])[0]))[0]


def steps(nats: float) -> int:
    return round(nats * 1024)


def names(lms: OpenLms) -> Sequence[str]:
    return [each.name for each in lms.descriptions()]


def test_a_new_file_is_found_at_once_by_its_name_and_listed_within_a_second(
    tmp_path: Path, lms: OpenLms, clock: Clock
) -> None:
    """The pool and its engines look at different times, and are to say the same."""
    with pytest.raises(InvalidStreamConfig, match="there are: none"):
        lms.check(LAW)
    write_lm(tmp_path / "law.lm", TENANT)
    write_lm(tmp_path / "art.lm", TENANT)
    lms.check(LAW)
    assert unigram(lms.hold(LAW), "七") == steps(TENANT["七"])
    assert names(lms) == ["law"]  # the folder was looked at just now
    clock.look_again()
    assert names(lms) == ["art", "law"]


def test_who_names_a_model_waits_for_no_look_at_the_others(
    tmp_path: Path, lms: OpenLms, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    monkeypatch.setattr("os.scandir", lambda _: pytest.fail("all of the folder was looked at"))
    lms.check(LAW)
    lms.hold(LAW)


def test_a_file_that_was_replaced_just_now_is_the_one_that_is_opened(
    tmp_path: Path, lms: OpenLms
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    old = lms.hold(LAW)
    write_lm(tmp_path / "new.lm", {**TENANT, "七": 1.0})
    (tmp_path / "new.lm").rename(tmp_path / "law.lm")
    assert unigram(lms.hold(LAW), "七") == steps(1.0)
    assert unigram(old, "七") == steps(TENANT["七"])


def test_a_file_that_is_replaced_while_it_is_looked_at_is_not_taken_for_torn(
    tmp_path: Path, lms: OpenLms, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    new = write_lm(tmp_path / "new.lm", {**TENANT, "三": 1.0, "一 三": 1.0})
    usual = Path.open

    def opened(path: Path, *how: str) -> object:
        if new.exists():
            new.rename(tmp_path / "law.lm")
        return usual(path, *how)

    monkeypatch.setattr(Path, "open", opened)
    lms.check(LAW)


def test_a_file_that_was_torn_at_the_last_look_is_looked_at_anew(
    tmp_path: Path, lms: OpenLms
) -> None:
    (tmp_path / "law.lm").write_bytes(b"torn")
    with pytest.raises(InvalidStreamConfig, match=r"lm=law: law\.lm"):
        lms.check(LAW)
    write_lm(tmp_path / "law.lm", TENANT)
    lms.check(LAW)


def test_a_file_that_may_be_read_again_is_found_though_it_has_not_changed(
    tmp_path: Path, lms: OpenLms, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "not yours")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refused)
        with pytest.raises(InvalidStreamConfig, match="not yours"):
            lms.check(LAW)
    clock.look_again()
    assert names(lms) == ["law"]
    lms.check(LAW)


def test_names_of_no_files_fill_no_log(
    tmp_path: Path, lms: OpenLms, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("law", "web"):
        with pytest.raises(InvalidStreamConfig, match="no such model"):
            lms.check(LmMix.read(name))
    assert not caplog.records


def test_to_check_opens_nothing(tmp_path: Path, lms: OpenLms) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    lms.check(LAW)
    assert lms.count == 0


def test_a_renamed_file_has_its_new_name_alone(tmp_path: Path, lms: OpenLms, clock: Clock) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    held = lms.hold(LAW)
    (tmp_path / "law.lm").rename(tmp_path / "web.lm")
    clock.look_again()
    assert names(lms) == ["web"]
    with pytest.raises(InvalidStreamConfig, match="there are: web"):
        lms.hold(LAW)
    assert lms.hold(LmMix.read("web")).mix is not None
    assert lms.count == 1
    assert unigram(held, "七") == steps(TENANT["七"])


def test_a_replaced_file_is_opened_anew_and_old_streams_keep_the_old_one(
    tmp_path: Path, lms: OpenLms, clock: Clock
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    old = lms.hold(LAW)
    write_lm(tmp_path / "new.lm", SMALL).rename(tmp_path / "law.lm")
    clock.look_again()
    new = lms.hold(LAW)
    assert lms.count == 2
    assert (unigram(old, "七"), unigram(new, "七")) == (steps(TENANT["七"]), steps(SMALL["七"]))
    old.release()
    assert lms.count == 1
    assert unigram(new, "七") == steps(SMALL["七"])


def test_a_removed_file_serves_its_streams_and_is_closed_with_the_last(
    tmp_path: Path, lms: OpenLms, clock: Clock
) -> None:
    write_lm(tmp_path / "law.lm", TENANT)
    one, other = lms.hold(LAW), lms.hold(LAW)
    (tmp_path / "law.lm").unlink()
    clock.look_again()
    with pytest.raises(InvalidStreamConfig):
        lms.hold(LAW)
    assert one.mix is not None
    image = weakref.ref(one.mix.images[0])
    one.release()
    one.release()
    assert unigram(other, "七") == steps(TENANT["七"])
    assert lms.count == 1
    other.release()
    assert (lms.count, image()) == (0, None)
    assert str(tmp_path / "law.lm") not in Path("/proc/self/maps").read_text()


def test_a_file_that_is_damaged_is_named_and_told_of_once(
    tmp_path: Path, lms: OpenLms, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    whole = write_lm(tmp_path / "whole.lm", TENANT).read_bytes()
    (tmp_path / "short.lm").write_bytes(whole[:-1])
    (tmp_path / "empty.lm").write_bytes(b"")
    (tmp_path / "other.lm").write_bytes(whole[:8] + bytes([9]) + whole[9:])
    (tmp_path / "folder.lm").mkdir()
    (tmp_path / "readme.txt").write_text("not asked")
    (tmp_path / "Upper.lm").write_bytes(whole)
    (tmp_path / "on.lm").write_bytes(whole)
    os.mkfifo(tmp_path / "pipe.lm")
    for _ in range(3):
        for name in ("short", "empty", "other", "folder", "pipe"):
            with pytest.raises(InvalidStreamConfig, match=f"lm={name}: {name}.lm"):
                lms.check(LmMix.read(name))
        clock.look_again()
    assert names(lms) == ["whole"]
    lms.hold(LmMix.read("whole"))
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == len(set(told)) == 8
    assert sum("left alone" in text for text in told) == 3


def test_a_folder_that_goes_away_leaves_no_models(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    lms = OpenLms(LmFolder(tmp_path / "none", clock))
    with pytest.raises(InvalidStreamConfig, match="there are: none"):
        lms.check(LAW)
    assert "cannot be read" in caplog.text


def test_no_more_images_are_opened_than_may_be(tmp_path: Path, lms: OpenLms) -> None:
    for name in "abcd":
        write_lm(tmp_path / f"{name}.lm", TENANT)
    held = lms.hold(LmMix.read("a:0.5,b:0.5"))
    with pytest.raises(InvalidStreamConfig, match="3 other models are in use"):
        lms.hold(LmMix.read("b:0.2,c:0.4,d:0.4"))
    lms.hold(LmMix.read("a:0.5,c:0.5"))
    assert lms.count == 3
    held.release()
    assert lms.count == 2


def test_a_mix_that_cannot_be_opened_holds_none_of_its_models(tmp_path: Path, lms: OpenLms) -> None:
    write_lm(tmp_path / "a.lm", TENANT)
    lms.check(LmMix.read("a"))
    with pytest.raises(InvalidStreamConfig, match="lm=b: there is no such model"):
        lms.hold(LmMix.read("a:0.5,b:0.5"))
    write_lm(tmp_path / "c.lm", TENANT)
    (tmp_path / "a.lm").write_bytes(b"another")
    with pytest.raises(InvalidStreamConfig, match=r"lm=a: a\.lm"):
        lms.hold(LmMix.read("a"))
    assert lms.count == 0


def test_two_names_of_one_file_are_no_mix(tmp_path: Path, lms: OpenLms) -> None:
    write_lm(tmp_path / "a.lm", TENANT)
    (tmp_path / "b.lm").hardlink_to(tmp_path / "a.lm")
    with pytest.raises(InvalidStreamConfig, match="one file"):
        lms.hold(LmMix.read("a:0.5,b:0.5"))


def test_without_a_folder_no_name_is_known() -> None:
    lms = OpenLms.of(None, None, GraphSearchConfig(), torch.device("cpu"))
    assert lms.descriptions() == []
    assert lms.hold(None).mix is lms.hold(False).mix is lms.hold(True).mix is None
    with pytest.raises(InvalidStreamConfig, match="no folder of language models"):
        lms.check(LAW)


def test_a_model_is_described_with_the_words_that_it_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "lms"
    folder.mkdir()
    without = {word: cost for word, cost in TENANT.items() if word != "二"}
    size = write_lm(folder / "law.lm", {**without, "一 一": 0.5}).stat().st_size
    graph = alike(tmp_path / "own", 12)
    [law] = OpenLms(LmFolder(folder), graph).descriptions()
    assert (law.name, law.order, law.words, law.ngrams, law.bytes) == ("law", 2, 5, 6, size)
    assert (law.missing, law.subtracts) == (1, True)


def test_words_that_a_model_without_an_unknown_word_lacks_cost_what_the_graph_says(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "lms"
    folder.mkdir()
    write_lm(folder / "law.lm", {"<s>": 64.0, "</s>": 1.0, "一": 1.0})
    held = OpenLms(LmFolder(folder), alike(tmp_path / "own", 12)).hold(LAW)
    assert unigram(held, "二") == steps(9.0)


def test_a_stream_changes_its_models_with_its_segment() -> None:
    gone: list[str] = []
    old, new, newest = (HeldLms(None, lambda name=name: gone.append(name)) for name in "abc")
    stream = StreamLms()
    stream.take(old, at_once=True)
    stream.take(new, at_once=False)
    assert stream.now is old
    stream.take(newest, at_once=False)
    assert gone == ["b"]
    stream.next_segment()
    stream.next_segment()
    assert (stream.now, gone) == (newest, ["b", "a"])
    stream.release()
    stream.release()
    assert gone == ["b", "a", "c"]


def test_a_model_that_knows_no_word_of_the_graph_is_refused_and_closed(tmp_path: Path) -> None:
    write_lm(tmp_path / "law.lm", {"<s>": 64.0, "</s>": 0.5, "A": 1.0, "B": 2.0})
    lms = OpenLms(LmFolder(tmp_path), alike(tmp_path / "own", 12))
    with pytest.raises(InvalidStreamConfig, match="lm=law: it knows none of the words"):
        lms.hold(LAW)
    assert lms.count == 0
    write_lm(tmp_path / "law.lm", {"<s>": 64.0, "</s>": 0.5, "A": 1.0, "二": 2.0})
    lms.hold(LAW)


def test_a_model_of_classes_alone_needs_no_word_of_the_graph(tmp_path: Path) -> None:
    write_lm(tmp_path / "law.lm", {"<s>": 64.0, "</s>": 0.5, "<name>": 1.0})
    OpenLms(LmFolder(tmp_path), alike(tmp_path / "own", 12)).hold(LAW)


def test_words_are_looked_for_until_one_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earshot.streaming.language_models.lm_description._LOOKED_FOR", 2)
    write_lm(tmp_path / "law.lm", {"<s>": 64.0, "</s>": 0.5, "二": 1.0})
    OpenLms(LmFolder(tmp_path), alike(tmp_path / "own", 12)).hold(LAW)
