"""The wire protocols that this server speaks."""

from earshot.service.deepgram.dialect import DEEPGRAM
from earshot.service.openai.dialect import OPENAI
from earshot.service.vosk.protocol import VOSK
from earshot.service.wenet.protocol import WENET
from earshot.service.whisperlivekit.dialect import WHISPERLIVEKIT

DIALECTS = (DEEPGRAM, OPENAI, WHISPERLIVEKIT)
"""The first words what goes wrong where no protocol is at home: probes, the page, unknown paths."""

ROOT_PROTOCOLS = (WENET, VOSK)
"""Of sockets without a path, by who claims their first message."""
