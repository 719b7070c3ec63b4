"""A few hundred hostile models, and faults that the fuzzer must notice."""

from pathlib import Path
from random import Random

import pytest
from fuzz_lms import FILES_OF_AN_EPISODE, fuzz, run_episode
from fuzz_tally import Tally
from hostile_arpas import BREAKS, HostileArpas
from hostile_images import HostileImages

from earshot.decoder_kernels.errors import LmImageError
from earshot.decoder_kernels.lm.lm_image import LmImage
from earshot.streaming.language_models.open_lms import OpenLms


def test_no_hostile_model_does_harm() -> None:
    tally = fuzz(seed=1, files=300)
    assert tally.done == {"ARPA file": 300, "image": 300}
    refused = dict.fromkeys(tally.done, 0)
    for (what, _), count in tally.refused.items():
        refused[what] += count
    # Many are read in spite of everything, and used.
    assert all(60 < count < 240 for count in refused.values())


def test_an_episode_is_the_same_again() -> None:
    found = []
    for _ in range(2):
        tally = Tally()
        run_episode(seed=3, number=5, files=20, tally=tally)
        found.append(tally)
    assert found[0] == found[1]
    assert FILES_OF_AN_EPISODE > 20


@pytest.mark.parametrize("broken", BREAKS, ids=lambda each: each.__name__)
def test_every_way_to_break_a_file_changes_it(broken) -> None:  # type: ignore[no-untyped-def]
    text = b"\\data\\\nngram 1=1\nngram 2=1\n\\1-grams:\n-1\tw0\n\\2-grams:\n-1\tw0 w0\n\\end\\"
    made = set()
    for seed in range(20):
        lines = text.split(b"\n")
        broken(Random(seed), lines)
        made.add(b"\n".join(lines))
    assert len(made - {text}) > 3


def test_a_lookup_that_leads_outside_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = LmImage.look_up

    def astray(self, states, words):  # type: ignore[no-untyped-def]
        costs, after = look_up(self, states, words)
        return costs, after + self.header.states

    monkeypatch.setattr(LmImage, "look_up", astray)
    images = HostileImages(Random(1), tmp_path)
    monkeypatch.setattr(images, "_content", lambda: images._intact[0])
    with pytest.raises(AssertionError):
        images.use()


def test_an_image_that_would_end_an_engine_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> None:
        raise LmImageError("bad.lm is damaged: word 3 is no UTF-8")

    monkeypatch.setattr(OpenLms, "hold", damaged)
    images = HostileImages(Random(1), tmp_path)
    with pytest.raises(AssertionError, match="lm=bad would end an engine"):
        images._serve(images._intact[0])


def test_readers_that_count_differently_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arpas = HostileArpas(Random(1), tmp_path)
    monkeypatch.setattr(arpas, "_counted", lambda source: -1)
    monkeypatch.setattr(arpas, "_content", lambda: arpas._texts[0])
    with pytest.raises(AssertionError):
        arpas.read()
