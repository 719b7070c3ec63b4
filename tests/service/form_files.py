"""The file of a form, for tests."""

import io

import numpy as np
import soundfile


def recording(*levels: int) -> dict[str, tuple[str, bytes]]:
    """Half a second of each loudness."""
    audio, file = np.repeat(np.array(levels) / 100, 8000), io.BytesIO()
    soundfile.write(file, audio, 16000, format="WAV")
    return {"file": ("clip.wav", file.getvalue())}
