"""Which ways of a student are heard, and what is said of those that change its words."""

from __future__ import annotations

from pathlib import Path

from benchmarks.recognition.served_wer import Heard
from benchmarks.recognition.student_words import GREEDY, OTHERS, arms, verdict
from benchmarks.recognition.transducer_heads import Arm, Found
from earshot.models.fastconformer.config import AttentionContext

MODEL = Path("of.nemo")
CONTEXTS = (AttentionContext(70, 13), AttentionContext(70, 0))


def test_each_context_is_heard_in_each_precision() -> None:
    found = list(arms(MODEL, CONTEXTS))
    greedy = [(arm.frames, arm.precision) for arm in found if arm.mode == GREEDY]
    assert greedy == [
        (frames, precision)
        for frames in (14, 1)
        for precision in ("float32", "bfloat16", "int8", "w8a8")
    ]
    assert [(arm.mode, arm.frames) for arm in found[8:]] == [(mode, 14) for mode in OTHERS]
    assert all(arm.bare for arm in found)


def test_more_than_half_a_percent_is_named() -> None:
    def found(*texts: str) -> Found:
        return Found(Heard([], texts), 0.0)

    said = " ".join(["word"] * 199)
    exact = Arm("way", MODEL, GREEDY)
    near = Arm("way", MODEL, GREEDY, "bfloat16")
    far = Arm("way", MODEL, GREEDY, "int8")
    heard = {exact: found(f"{said} end"), near: found(f"{said} and"), far: found(f"or or {said}")}
    assert verdict(heard) == "Changed words: over the limit of 0.5 %: way in int8."
    del heard[far]
    assert verdict(heard) == "Changed words: all within 0.5 %."
