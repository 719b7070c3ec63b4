"""Commands and wake phrases."""

from __future__ import annotations

import random
import re

from earshot.training.synthetic.sayings.commands import (
    GAPS,
    TEMPLATES,
    WAKE_PHRASES,
    command,
    wake_phrase,
)


def test_every_gap_of_a_template_is_filled() -> None:
    rng = random.Random(3)
    said = [command(rng).spoken for _ in range(4000)]
    assert not any("{" in words for words in said)
    for template in TEMPLATES:
        pattern = re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(template)))
        assert any(pattern.search(words) for words in said), template


def test_every_filling_is_used() -> None:
    gaps = {gap for template in TEMPLATES for gap in re.findall(r"{(\w+)}", template)}
    assert set(GAPS) <= gaps


def test_wake_phrases_come_alone_and_before_commands() -> None:
    rng = random.Random(3)
    said = [wake_phrase(rng).text for _ in range(500)]
    assert set(WAKE_PHRASES) <= set(said)
    assert all(text.startswith(WAKE_PHRASES) for text in said)
    assert 100 < sum(text not in WAKE_PHRASES for text in said) < 200
