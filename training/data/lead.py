"""Silence before recordings: of each, at each speed, always as long.

Whisper's frames know how far from the start they are: 0.3 s of silence before a recording change
them by a mean square of 0.25, as much as the untrained mask over chunks does. So a student that
hears a lead needs a teacher that hears it, and frames that are kept on disk know one lead only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from earshot.training.corpus.utterance import Utterance

STEPS = 1 << 16


@dataclass(frozen=True)
class Leads:
    """None before half of all recordings, up to `most_samples` before the others.

    They are whole multiples of `step_samples`, so that frames of the student and the teacher begin
    at the same samples.
    """

    most_samples: int
    step_samples: int

    def samples(self, utterance: Utterance, speed: float) -> int:
        """The silence before this recording at this speed."""
        name = f"{utterance.corpus}/{utterance.path.name}@{speed:g}"
        drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:2], "big") / STEPS
        share = max(0.0, 2.0 * drawn - 1.0)
        return int(share * (self.most_samples // self.step_samples + 1)) * self.step_samples
