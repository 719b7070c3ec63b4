"""What `encoding` may name: samples, and containers that say the rest themselves."""

import pytest

from earshot.service.audio.containers import AMR_NB_FRAMES, AMR_WB_FRAMES, FLAC, OGG
from earshot.service.audio.pcm import PcmFormat
from earshot.service.errors import BadRequest
from earshot.service.request.boosts import BoostRules
from earshot.service.request.model_names import ModelNames
from earshot.service.request.parameters import ParameterRules, parse_parameters

RULES = ParameterRules(ModelNames("m"), BoostRules())


def parse(encoding, *, is_file=False):
    query = [each.split("=") for each in f"encoding={encoding}".split("&")]
    return parse_parameters(query, RULES, is_file=is_file)


@pytest.mark.parametrize("encoding", ["linear16", "linear32", "mulaw", "alaw"])
def test_raw_audio_has_an_encoding_and_a_rate(encoding):
    parameters = parse(f"{encoding}&sample_rate=44100&channels=1")
    assert parameters.pcm == PcmFormat(encoding, 44100)
    assert parameters.container is None


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(
    ("encoding", "container"),
    [
        ("flac", FLAC),
        ("ogg-opus&sample_rate=48000", OGG),
        ("AMR-NB", AMR_NB_FRAMES),
        ("amr-wb&sample_rate=16000", AMR_WB_FRAMES),
    ],
)
def test_a_container_has_a_name_and_needs_no_rate(encoding, container, is_file):
    parameters = parse(encoding, is_file=is_file)
    assert (parameters.pcm, parameters.container) == (None, container)


def test_a_container_whose_channels_are_to_be_apart_needs_their_number():
    with pytest.raises(BadRequest, match="needs channels"):
        parse("flac&multichannel=true")
    assert parse("flac&multichannel=true&channels=2").channels_apart == 2


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("opus", "encoding=opus: must be one of .*flac, ogg-opus, amr-nb, amr-wb"),
        ("speex&sample_rate=16000", "encoding=speex"),
        ("g729&sample_rate=8000", "encoding=g729"),
        ("amr-nb&sample_rate=16000", "amr-nb has 8000 samples a second, not 16000"),
    ],
)
def test_what_is_not_decoded_is_refused_by_name(encoding, named):
    with pytest.raises(BadRequest, match=named):
        parse(encoding)
