"""Rooms to speak in: impulse responses, simulated and measured.

Early reflections of a shoebox room by image sources (Allen and Berkley 1979), the late ones, which
are too many to tell apart, as decaying noise (Lehmann and Johansson 2010, section III).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Response = npt.NDArray[np.float32]

SOUND_M_PER_S = 343.0
EARLY_S = 0.04  # reflections that are placed one by one
LONGEST_S = 0.5
SINC_REACH = 20  # samples each side of a reflection that falls between two
NEAREST_WALL_M = 0.3


@dataclass(frozen=True)
class Room:
    """A shoebox: size, speaker and microphone in metres, and seconds to fall by 60 dB."""

    size: npt.NDArray[np.float64]
    speaker: npt.NDArray[np.float64]
    microphone: npt.NDArray[np.float64]
    decay_s: float

    @property
    def reflection(self) -> float:
        """The share of a wave's amplitude that each wall sends back (Eyring 1930)."""
        volume = float(np.prod(self.size))
        area = 2 * volume * float((1 / self.size).sum())
        absorbed = 1 - np.exp(-24 * np.log(10) * volume / (SOUND_M_PER_S * area * self.decay_s))
        return float(np.sqrt(1 - absorbed))


def random_room(rng: np.random.Generator) -> Room:
    """From a bathroom to a hall, the microphone at hand or across the room."""
    size = rng.uniform((2.0, 2.0, 2.2), (9.0, 7.0, 3.8))
    speaker, microphone = rng.uniform(NEAREST_WALL_M, size - NEAREST_WALL_M, size=(2, 3))
    return Room(size, speaker, microphone, float(rng.uniform(0.12, 0.7)))


def image_sources(room: Room, longest_m: float) -> tuple[npt.NDArray[np.float64], ...]:
    """Distances in metres up to `longest_m`, and amplitudes, of the speaker's mirror images."""
    orders = [np.arange(-n, n + 1) for n in np.ceil(longest_m / (2 * room.size)).astype(int)]
    order = np.stack(np.meshgrid(*orders, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    mirrored = np.stack(np.meshgrid(*[(0, 1)] * 3, indexing="ij"), axis=-1).reshape(1, -1, 3)
    place = 2 * order * room.size + np.where(mirrored == 1, -1, 1) * room.speaker
    distance = np.linalg.norm(place - room.microphone, axis=-1).ravel()
    bounces = (np.abs(order - mirrored) + np.abs(order)).sum(axis=-1).ravel()
    near = distance <= longest_m
    amplitude = room.reflection ** bounces[near] / np.maximum(distance[near], 0.1)
    return distance[near], amplitude


def early_reflections(room: Room, length: int, sample_rate_hz: int) -> npt.NDArray[np.float64]:
    """Pressure `(length,)` after an impulse, the direct sound included."""
    per_metre = sample_rate_hz / SOUND_M_PER_S
    distance, amplitude = image_sources(room, (length - SINC_REACH - 1) / per_metre)
    arrival = distance * per_metre
    offsets = np.arange(-SINC_REACH, SINC_REACH + 1)
    samples = np.round(arrival).astype(np.int64)[:, None] + offsets
    late = samples - arrival[:, None]
    values = amplitude[:, None] * np.sinc(late) * np.cos(late * np.pi / (2 * SINC_REACH + 2)) ** 2
    heard = np.zeros(length + SINC_REACH)
    audible = samples >= 0
    np.add.at(heard, samples[audible], values[audible])
    return heard[:length]


def simulate(room: Room, rng: np.random.Generator, sample_rate_hz: int) -> Response:
    """Impulse response of a room, of energy 1, beginning with the direct sound."""
    arrival = float(np.linalg.norm(room.speaker - room.microphone)) / SOUND_M_PER_S
    early = early_reflections(room, round((arrival + EARLY_S) * sample_rate_hz), sample_rate_hz)
    joint = early[-round(EARLY_S / 2 * sample_rate_hz) :]
    time_s = np.arange(round((LONGEST_S - EARLY_S) * sample_rate_hz)) / sample_rate_hz
    decay = 10 ** (-3 * time_s / room.decay_s)
    middle = 10 ** (3 * EARLY_S / 4 / room.decay_s)  # the joint's level is that of its middle
    tail = rng.normal(0.0, np.sqrt(np.mean(joint**2)) / middle, len(time_s)) * decay
    return from_direct_sound(np.concatenate((early, tail)))


def from_direct_sound(response: npt.NDArray[np.float64]) -> Response:
    """Without what comes before its strongest sample, of energy 1."""
    direct = response[np.abs(response).argmax() :]
    return np.asarray(direct / np.sqrt((direct**2).sum()), dtype=np.float32)


def simulated_rooms(count: int, seed: int, sample_rate_hz: int) -> list[Response]:
    """`count` responses, the same for the same seed."""
    rng = np.random.default_rng((seed, 3))
    return [simulate(random_room(rng), rng, sample_rate_hz) for _ in range(count)]
