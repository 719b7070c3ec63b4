"""The protocol of one session, and what it sends, for tests that need no socket."""

import json

from earshot.service.audio.pcm import PcmFormat
from earshot.service.deepgram.listen_protocol import ListenProtocol
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.request.boosts import BoostRules
from earshot.service.request.parameters import ListenParameters
from earshot.service.served_model import ServedModel
from earshot.service.sessions.actions import (
    Send,
)
from earshot.streaming.stream_config import StreamConfig


def protocol(encoding="linear16", rate=16000, **asked):
    pcm = None if encoding is None else PcmFormat(encoding, rate)
    parameters = ListenParameters(StreamConfig(), pcm, "json", **asked)
    messages = ResultMessages("request", ServedModel("m", "1", "conformer", "uuid"))
    return ListenProtocol(messages, parameters, BoostRules(max_phrases=3), 16000)


def sent(actions):
    """The messages in actions, as a client would parse them."""
    return [json.loads(each.message.to_json()) for each in actions if isinstance(each, Send)]
