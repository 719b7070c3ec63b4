"""The bundled head, on an order that the page plays: whole, and broken off."""

from pathlib import Path

import soundfile

from benchmarks.server.spoken_hour import RATE_HZ, Samples
from benchmarks.turns.pause_log import pauses_in
from benchmarks.turns.room_tone import in_its_room
from earshot.models.bundled import bundled_model_dir
from earshot.models.turns.turn_head_file import TURNS_FILE, load_turn_head
from earshot.training.corpus.utterance import Utterance

BROKEN_OFF_S = 2.9
"""Behind "can i have a light roast"."""


def sound_of_the_end(clip: Path, until_s: float) -> float:
    """What the head hears in the pause behind a clip."""

    def hear(utterance: Utterance) -> Samples:
        samples, _ = soundfile.read(utterance.path, dtype="float32")
        return in_its_room(samples[: round(until_s * RATE_HZ)], 2 * RATE_HZ)

    model = bundled_model_dir()
    pauses = pauses_in(model, [Utterance(clip, "coffee", "?", 0.0, "")], hear)
    [end] = [pause for pause in pauses if pause.is_end]
    [sound] = load_turn_head(model / TURNS_FILE, "cpu").sounds(end.stretches.unsqueeze(0))
    return sound


def test_a_whole_order_sounds_as_if_it_were_over(repository_dir: Path) -> None:
    clip = repository_dir / "web" / "samples" / "light-roast.opus"
    whole, broken_off = sound_of_the_end(clip, 60.0), sound_of_the_end(clip, BROKEN_OFF_S)
    assert broken_off < 0 < whole
