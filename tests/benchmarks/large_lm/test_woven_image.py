"""Copies of a model in one image say what the model says, each of its own words."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from backoff_oracle import crowded_model, random_model

from benchmarks.large_lm import woven_image
from benchmarks.large_lm.woven_image import weave
from earshot.decoder_kernels.lm.lm_image import ROOT, LmImage
from earshot.decoder_kernels.lm.lm_pack import pack_arpa

COPIES = 3


@pytest.mark.parametrize("piece", [40, 4_000_000])
@pytest.mark.parametrize("seed", range(4))
def test_each_copy_says_what_the_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, piece: int
) -> None:
    monkeypatch.setattr(woven_image, "PIECE", piece)
    model = crowded_model(seed, 3) if seed % 2 else random_model(seed, 4)
    pack_arpa(model.write(tmp_path), tmp_path / "one.lm")
    header = weave(tmp_path / "one.lm", COPIES, tmp_path / "woven.lm")
    one, woven = LmImage(tmp_path / "one.lm"), LmImage(tmp_path / "woven.lm")
    woven.check()
    assert woven.header.num_ngrams == header.num_ngrams == COPIES * one.header.num_ngrams
    draw = Random(seed)
    words = [one.text_of(word) for word in range(one.header.words)]
    for _ in range(100):
        text = draw.choices(words, k=6)
        wanted = costs_of(one, text)
        for copy in range(COPIES):
            assert costs_of(woven, [named(word, copy) for word in text]) == wanted


def test_words_of_two_copies_were_never_heard_together(tmp_path: Path) -> None:
    pack_arpa(random_model(3, 3).write(tmp_path), tmp_path / "one.lm")
    weave(tmp_path / "one.lm", COPIES, tmp_path / "woven.lm")
    woven = LmImage(tmp_path / "woven.lm")
    words = [woven.text_of(word) for word in range(0, woven.header.words, COPIES)]
    for before, word in pairwise(words):
        other = woven.find_words([named(word, 1)])[0].item()
        state = woven.state_after(woven.find_words([before]).tolist())
        cost, _ = woven.find(state, other)
        assert cost == woven.back_off(state) + woven.find(ROOT, other)[0]


def named(word: str, copy: int) -> str:
    return f"{word}#{copy}" if copy else word


def costs_of(image: LmImage, text: list[str]) -> list[int]:
    state, costs = ROOT, []
    for word in image.find_words(text).tolist():
        cost, state = image.find(state, word)
        costs.append(cost)
    return costs
