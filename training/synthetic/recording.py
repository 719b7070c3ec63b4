"""From what an engine wrote to a checked recording: 16 kHz, one level, Ogg Opus."""

from __future__ import annotations

import io

import av
import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from earshot.language.text.transcript_text import normalise_text
from earshot.training.synthetic.engines import Delivery, Engine, run_program
from earshot.training.synthetic.errors import BadRecording

SAMPLE_RATE_HZ = 16000
OPUS_BITS_PER_SECOND = 20_000
OPUS_OPTIONS = {
    "application": "voip",
    "compression_level": "0",  # at the default of 10 encoding takes longer than most engines do
    "flags": "+bitexact",
}
# libsndfile misreads, or refuses, a file whose first page of sound is also its last.
SHORT_SAMPLES = SAMPLE_RATE_HZ  # which, with pages of a second, is one
SHORT_PAGE_MICROSECONDS = 100_000
PEAK = 0.5
SILENT_PEAK = 0.005
CLIPPED_LEVEL = 0.999
MOST_CLIPPED = 1e-3  # of all samples
# All engines take about 0.065 s for a letter and 0.55 s besides; a spelled letter is a word.
LEAST_SECONDS_PER_LETTER, MOST_SECONDS_PER_LETTER = 0.045, 0.09
MOST_SECONDS_PER_WORD, MOST_OTHER_SECONDS = 0.3, 1.0

Samples = npt.NDArray[np.float32]


def _decoded(wave: bytes) -> tuple[Samples, int]:
    try:
        samples, rate = soundfile.read(io.BytesIO(wave), dtype="float32")
    except soundfile.LibsndfileError as error:
        raise BadRecording(f"no WAV file: {error}") from error
    if samples.ndim != 1 or not len(samples):
        raise BadRecording(f"no mono sound: shape {samples.shape}")
    return samples, rate


def check_sound(samples: Samples) -> None:
    """Raises BadRecording for silence, for what is no number, and for a clipped sound."""
    level = np.abs(samples)
    if not np.isfinite(level).all() or level.max() < SILENT_PEAK:
        raise BadRecording("silent, or not numbers")
    clipped = float((level >= CLIPPED_LEVEL).mean())
    if clipped > MOST_CLIPPED:
        raise BadRecording(f"clipped: {clipped:.2%} of the samples")


def at_peak(samples: Samples) -> Samples:
    """Scale samples to the loudness of all recordings: a peak of one half."""
    louder: Samples = samples * np.float32(PEAK / np.abs(samples).max())
    return louder


def check_length(seconds: float, text: str, rate: float) -> None:
    """Raises BadRecording if so much `text` cannot take so long at this rate of speech."""
    words = text.split()
    letters = sum(map(len, words))
    least = LEAST_SECONDS_PER_LETTER * letters
    most = MOST_SECONDS_PER_LETTER * letters + MOST_SECONDS_PER_WORD * len(words)
    if not least <= seconds * rate <= most + MOST_OTHER_SECONDS:
        raise BadRecording(f"{seconds:.2f} s for {letters} letters in {len(words)} words")


def speak(engine: Engine, text: str, delivery: Delivery) -> Samples:
    """Speech of `engine`, at 16 kHz with a peak of one half. Raises BadRecording."""
    pitch = 1.0 if engine.sets_pitch else delivery.pitch
    # Played faster, a voice is higher and of a smaller head: so it has to speak more slowly first.
    slower = Delivery(delivery.voice, delivery.rate / pitch, delivery.pitch)
    samples, rate_hz = _decoded(run_program(engine.command(text, slower)))
    check_sound(samples)
    samples = np.asarray(soxr.resample(samples, rate_hz * pitch, SAMPLE_RATE_HZ), np.float32)
    check_length(len(samples) / SAMPLE_RATE_HZ, normalise_text(text), delivery.rate)
    return at_peak(samples)


def encode(samples: Samples) -> bytes:
    """Ogg Opus of `samples` `(N,)`, the same bytes each time.

    libsndfile would write Opus too, but draws the stream's serial number by the clock.

    Raises BadRecording if libsndfile, which training reads with, finds another number of samples.
    """
    file = io.BytesIO()
    pages = {"fflags": "+bitexact"}
    if len(samples) < SHORT_SAMPLES:
        pages["page_duration"] = str(SHORT_PAGE_MICROSECONDS)
    with av.open(file, "w", format="ogg", options=pages) as container:
        stream = container.add_stream(
            "libopus", rate=SAMPLE_RATE_HZ, layout="mono", options=OPUS_OPTIONS
        )
        stream.bit_rate = OPUS_BITS_PER_SECOND
        pcm = np.rint(samples * 32767).astype(np.int16)[np.newaxis]
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE_HZ
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    _require_length(file.getvalue(), len(samples))
    return file.getvalue()


def _require_length(file: bytes, samples: int) -> None:
    try:
        read = len(soundfile.read(io.BytesIO(file))[0])
    except soundfile.LibsndfileError as error:
        raise BadRecording(f"{samples} samples cannot be read back: {error}") from error
    if read != samples:
        raise BadRecording(f"{samples} samples are {read} when read back")
