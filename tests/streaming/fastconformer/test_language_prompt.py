"""Tags of languages, and their places in a model's prompt."""

from __future__ import annotations

import pytest
import torch
from random_nemo import random_nemo

from earshot.models.fastconformer.config import PromptConfig
from earshot.streaming.errors import InvalidStreamConfig
from earshot.streaming.fastconformer.language_prompt import LanguagePrompt

LANGUAGES = {"en-US": 0, "en-GB": 1, "de-DE": 2, "zh_CN": 3, "auto": 5}
PLACES = LanguagePrompt(PromptConfig(size=8, hidden_size=4, languages=LANGUAGES))


@pytest.mark.parametrize(
    ("tag", "place"),
    [
        ("en-GB", 1),
        ("EN-gb", 1),
        ("de_DE", 2),
        ("zh-CN", 3),
        ("en", 0),  # the first of its regions
        ("en-AU", 0),
        ("de-AT", 2),
        (None, 5),
        ("auto", 5),
    ],
)
def test_a_tag_has_the_place_of_its_language_in_whatever_region(tag, place) -> None:
    assert PLACES.place(tag) == place


@pytest.mark.parametrize("tag", ["fr-FR", "e", "english", "ende"])
def test_a_language_that_the_model_does_not_have_is_refused(tag) -> None:
    with pytest.raises(InvalidStreamConfig, match=f"language is {tag}: there are en-US, en-GB"):
        PLACES.place(tag)


def test_frames_are_told_their_language_as_in_a_batch() -> None:
    prompt = random_nemo("chunks, rnnt with prompt").model.prompt
    frames = torch.randn(2, 5, 24)
    with torch.inference_mode():
        expected = prompt.tell(frames, torch.tensor([2, 0]))
        told = PLACES.tell(prompt, list(frames), [2, 0])
    torch.testing.assert_close(torch.stack(told), expected)
    assert not torch.allclose(told[0], prompt.tell(frames[:1], torch.tensor([1]))[0])
