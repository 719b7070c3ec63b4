"""The tables of telephony's samples, beside libsndfile's."""

import io

import numpy as np
import pytest
import soundfile

from earshot.service.audio.g711 import A_LAW, MU_LAW
from earshot.service.audio.pcm import PcmDecoder, PcmFormat


@pytest.mark.parametrize(
    ("encoding", "subtype", "law"), [("mulaw", "ULAW", MU_LAW), ("alaw", "ALAW", A_LAW)]
)
def test_every_code_is_the_sample_that_libsndfile_has(encoding, subtype, law):
    codes = bytes(range(256))
    theirs, _ = soundfile.read(
        io.BytesIO(codes), format="RAW", subtype=subtype, channels=1, samplerate=8000
    )
    np.testing.assert_array_equal(PcmDecoder(PcmFormat(encoding, 8000)).decode(codes), theirs)
    assert law.dtype == np.float32
    assert np.abs(law).max() < 1.0
