"""The protocol of WeNet's runtime without the socket: start, audio, end."""

from earshot.service.audio.socket_audio import SocketAudio
from earshot.service.best_reading import best_text
from earshot.service.errors import BadRequest, ServiceError
from earshot.service.outcomes import (
    NORMAL_CLOSURE,
    public_message,
)
from earshot.service.request.parameters import (
    ListenParameters,
    ParameterRules,
    parse_parameters,
)
from earshot.service.sessions.actions import RESTARTING, Action, Ask, Close, Open, Send, pushed
from earshot.service.sessions.json_object import object_of
from earshot.service.wenet.wenet_messages import (
    READY,
    SPEECH_END,
    failed,
    final_result,
    partial_result,
)
from earshot.streaming.errors import StreamingError
from earshot.streaming.events import Closed, Event, Failed, Final, Partial
from earshot.streaming.requests import FINISH, Cancel

RATE_HZ = 16_000
"""What WeNet's clients send: nothing in the protocol says it."""

MOST_ALTERNATIVES = 10
MAX_TEXT_CHARS = 4096
_ENDS = ("end", "finalize")


class WenetConversation:
    """One session, from its `start` on."""

    def __init__(self, rules: ParameterRules, model_rate_hz: int) -> None:
        self._rules = rules
        self._model_rate_hz = model_rate_hz
        self._parameters: ListenParameters | None = None
        self._audio: SocketAudio | None = None
        self._goes_on = False
        self._is_open = self._is_over = False
        self._close = Close(NORMAL_CLOSURE)

    @property
    def awaits(self) -> str | None:
        """Until the client has said that its speech ends."""
        return "audio" if self._is_open else None

    def opened(self) -> list[Action]:
        """The client speaks first."""
        return []

    def receive_text(self, text: str) -> list[Action]:
        """Take a signal."""
        if self._is_over or (self._parameters is not None and not self._is_open):
            return []
        message = object_of(text, MAX_TEXT_CHARS)
        signal = None if message is None else message.get("signal")
        if signal == "end" and self._is_open:
            return self._finish()
        if message is None or signal != "start" or self._is_open:
            return self.fail(BadRequest("a text is the signal start, once, then the signal end"))
        try:
            return self._start(message)
        except (ServiceError, StreamingError) as error:
            return self.fail(error)

    def receive_bytes(self, data: bytes) -> list[Action]:
        """Take audio."""
        if not self._is_open:
            return []
        assert self._audio is not None
        try:
            heard = self._audio.decode(data)
        except ServiceError as error:
            return self.fail(error)
        return pushed(heard)

    def receive_event(self, event: Event, channel: int = 0) -> list[Action]:
        """Tell what the engine says."""
        if self._is_over:
            return []
        match event:
            case Partial():
                return self._partial(event)
            case Final():
                return self._final(event)
            case Closed():
                self._is_over = True
                return [Send(SPEECH_END), self._close]
            case Failed(error):
                return self.fail(error)
            case _:
                return []

    def fail(self, error: BaseException) -> list[Action]:
        """End for an error: the client is told why, then the socket is closed."""
        if self._is_over:
            return []
        self._is_over, self._is_open = True, False
        return [Ask(Cancel()), Send(failed(public_message(error))), Close.of(error)]

    def idle(self, error: BaseException) -> list[Action]:
        """End the session of a silent client: last results, then the error's code."""
        self._close = Close.of(error)
        return self._finish()

    def drain(self) -> list[Action]:
        """End because the server stops: last results, then a code to reconnect on."""
        self._close = RESTARTING
        return self._finish()

    def disconnect(self) -> list[Action]:
        """The client is gone: nobody reads the results."""
        self._is_over, self._is_open = True, False
        return [Ask(Cancel())]

    def _start(self, message: dict[str, object]) -> list[Action]:
        nbest, goes_on = message.get("nbest", 1), message.get("continuous_decoding", False)
        if type(nbest) is not int or nbest < 1:
            raise BadRequest("nbest: must be a whole number from 1")
        if type(goes_on) is not bool:
            raise BadRequest("continuous_decoding: must be true or false")
        query = [
            ("encoding", "linear16"),
            ("sample_rate", f"{RATE_HZ}"),
            ("interim_results", "true"),
            ("alternatives", f"{min(nbest, MOST_ALTERNATIVES)}"),
        ]
        self._parameters = parse_parameters(query, self._rules, is_file=False)
        self._audio = SocketAudio(self._parameters.pcm, self._model_rate_hz)
        self._goes_on, self._is_open = goes_on, True
        return [Open(self._parameters.stream), Send(READY)]

    def _partial(self, event: Partial) -> list[Action]:
        assert self._parameters is not None
        written = self._parameters.writing.of(event)
        return [Send(partial_result(written), 0, replaceable=True)] if best_text(written) else []

    def _final(self, event: Final) -> list[Action]:
        """A text that is done; without `continuous_decoding` the first pause ends the session."""
        assert self._parameters is not None
        written = self._parameters.writing.of(event)
        is_last = event.cause in _ENDS
        if not (best_text(written) or is_last):
            return []
        told: list[Action] = [Send(final_result(written), 0)]
        if self._goes_on or is_last or not event.speech_final:
            return told
        self._is_over, self._is_open = True, False
        return [*told, Ask(Cancel()), Send(SPEECH_END), self._close]

    def _finish(self) -> list[Action]:
        if not self._is_open:
            return []
        assert self._audio is not None
        try:
            tails = self._audio.flush()
        except ServiceError as error:
            return self.fail(error)
        self._is_open = False
        return [*pushed(tails), Ask(FINISH)]
