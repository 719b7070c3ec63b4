"""The wire protocols that this server speaks."""

from earshot.service.deepgram.dialect import DEEPGRAM

DIALECTS = (DEEPGRAM,)
"""The first words what goes wrong where no protocol is at home: probes, the page, unknown paths."""
