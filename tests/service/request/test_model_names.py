from typing import get_args

import pytest

from earshot.service.deepgram.known_names import DEEPGRAMS
from earshot.service.errors import BadRequest
from earshot.service.request.model_names import ModelNames

ALIASES = ("default", "nova-3")


@pytest.mark.parametrize("asked", [None, "", "own", "Own", "default", "NOVA-3", *DEEPGRAMS.names])
def test_names_that_clients_know_are_served_in_any_case(asked):
    ModelNames("own", ALIASES, known=DEEPGRAMS).check(asked)


def test_every_name_in_the_lists_of_deepgrams_sdk_is_served():
    live = pytest.importorskip("deepgram.types.listen_v1model").ListenV1Model
    files = pytest.importorskip(
        "deepgram.listen.v1.media.types.media_transcribe_request_model"
    ).MediaTranscribeRequestModel
    names = {name for kind in (live, files) for name in get_args(get_args(kind)[0])}
    assert len(names) > 20
    for name in names:
        ModelNames("own", known=DEEPGRAMS).check(name)


@pytest.mark.parametrize("asked", ["nova-9", "flux-general-en", "own ", "no-such-model"])
def test_a_name_nobody_knows_is_refused_with_the_operators_and_where_the_others_are(asked):
    told = rf"model={asked}: .* answers to own, default, nova-3, and any .* that /v1/models lists$"
    with pytest.raises(BadRequest, match=told):
        ModelNames("own", ALIASES, known=DEEPGRAMS).check(asked)


@pytest.mark.parametrize("asked", ["", "NOVA-3", "nova-2", "whisper"])
def test_strict_serves_nothing_but_what_the_operator_named(asked):
    names = ModelNames("own", ALIASES, strict=True, known=DEEPGRAMS)
    for good in (None, "own", *ALIASES):
        names.check(good)
    with pytest.raises(BadRequest, match=r"answers to own, default, nova-3$"):
        names.check(asked)


def test_a_name_is_listed_once_and_not_as_its_own_alias():
    assert ModelNames("nova-3", ("nova-3", "a", "a"), strict=True).others == ("a",)
