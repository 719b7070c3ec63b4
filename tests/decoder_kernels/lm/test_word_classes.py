"""The classes of words that an image has, found by their texts."""

from dataclasses import replace
from pathlib import Path

import pytest
from backoff_oracle import BackoffModel, random_model

from earshot.decoder_kernels.lm.class_names import classes_among, is_class_name
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa
from earshot.decoder_kernels.lm.word_classes import image_classes


def packed(model: BackoffModel, folder: Path) -> LmImage:
    pack_arpa(model.write(folder), folder / "model.lm")
    return LmImage(folder / "model.lm")


@pytest.mark.parametrize("seed", range(5))
def test_all_classes_of_an_image_are_found_among_its_other_words(tmp_path: Path, seed: int) -> None:
    model = random_model(seed, 2, size=6)
    words = ["<name>", "<product-2_b>", "<Name>", "<>", "<<a>", "=", ";", "<é>"]
    others = {(word,): 2048.0 for word in words}
    image = packed(replace(model, costs=model.costs | others), tmp_path)
    found = image_classes(image)
    assert list(found) == ["name", "product-2_b"]
    assert [image.text_of(number) for number in found.values()] == ["<name>", "<product-2_b>"]


def test_a_model_of_plain_text_has_no_classes(tmp_path: Path) -> None:
    model = random_model(3, 3)
    assert image_classes(packed(model, tmp_path)) == {}


def test_marks_of_sentences_and_unknown_words_are_no_classes() -> None:
    words = ["<s>", "</s>", "<unk>", "<UNK>", "<sss>", "<unknown>", "name"]
    assert classes_among(words) == ["sss", "unknown"]
    assert not any(map(is_class_name, ["s", "unk", "", "Name", "a b", "name>", "näme", "name\n"]))
    assert is_class_name("a-b_2")
