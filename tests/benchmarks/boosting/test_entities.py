"""The page of entities: what it counts, and the text that its model is made of."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.boosting import entities
from benchmarks.boosting.entities import Material, arms
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.word_classes import image_classes
from earshot.training.corpus.utterance import Utterance


def said(name: str, text: str) -> Utterance:
    return Utterance(path=Path(name), text=text, corpus="librispeech", seconds=1.0, speaker="one")


@pytest.fixture
def material(monkeypatch) -> Material:
    graph = SimpleNamespace(word_texts=("", "call", "now", "me"))
    monkeypatch.setattr(entities, "read_graph", lambda path: graph)
    speech = [said("a", "call oakes oakes"), said("b", "call me"), said("c", "me now")]
    return Material.of(speech, [said("d", "call kearny now")])


def test_each_recording_with_a_name_has_one_without_beside_it(material):
    assert [each.path.name for each in material.speech] == ["a", "b"]
    assert material.names == ["oakes"]


def test_the_class_stands_for_what_the_graph_lacks(material, tmp_path):
    assert material.sentences == ["call <name> now"]
    entities.build_lm(material.sentences * 3, tmp_path)
    image = LmImage(tmp_path / "names.lm")
    assert (list(image_classes(image)), image.order) == (["name"], 3)


def test_a_name_is_heard_no_more_often_than_it_is_said(material):
    heard, false, *errors = material.cells(["call oakes oakes oakes", "call oakes"])
    assert (heard, false) == ("2 of 2", "2")
    assert [each.split()[0] for each in errors] == ["33.3", "50.0"]


def test_arms_without_a_model_are_heard_once():
    ranked, searched = (list(arms(in_search=each)) for each in (False, True))
    assert [arm.name for arm in ranked if not arm.has_lm] == ["neither", "key terms"]
    assert all(arm.has_lm for arm in searched)
    [own] = [arm for arm in searched if arm.has_members]
    config = own.config(["oakes"])
    assert (config.graph.entities.classes, config.boosts) == (("name",), ())
