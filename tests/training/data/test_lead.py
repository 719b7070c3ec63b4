"""Silence before recordings that is always as long."""

from __future__ import annotations

from pathlib import Path

from earshot.training.corpus.utterance import Utterance
from earshot.training.data.lead import Leads

LEADS = Leads(most_samples=16_000, step_samples=640)
RECORDINGS = [Utterance(Path(f"{number}.flac"), "books", "her", 1.0, "") for number in range(400)]


def test_half_of_the_recordings_begin_at_once_and_none_too_late() -> None:
    leads = [LEADS.samples(each, 1.0) for each in RECORDINGS]
    assert 0.4 < sum(lead == 0 for lead in leads) / len(leads) < 0.65
    assert max(leads) == 16_000
    assert not any(lead % 640 for lead in leads)


def test_a_recording_has_the_same_lead_wherever_it_lies() -> None:
    moved = [Utterance(Path("/else") / each.path, "books", "him", 2.0, "") for each in RECORDINGS]
    assert [LEADS.samples(each, 0.9) for each in moved] == [
        LEADS.samples(each, 0.9) for each in RECORDINGS
    ]


def test_another_speed_has_leads_of_its_own() -> None:
    assert [LEADS.samples(each, 0.9) for each in RECORDINGS] != [
        LEADS.samples(each, 1.1) for each in RECORDINGS
    ]
