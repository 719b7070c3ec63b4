"""Live audio in, utterances out: an iterator over an iterator, on the caller's own thread."""

import queue
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Self

from earshot.service.core.engine_port import Sink, StreamPort
from earshot.service.library.utterance import Utterance
from earshot.service.writing import Writing
from earshot.streaming.errors import BacklogFull, StreamClosed
from earshot.streaming.events import Closed, Event, Failed, Final, Partial, UnboostablePhrase
from earshot.streaming.requests import FINISH, Cancel, Push


class LiveUtterances(Iterator[Utterance]):
    """Utterances in a stream of audio, as they are said; ends when the audio does.

    Each step takes as much audio as it needs for a result. Leave early as you like: `close`, a
    `with` block, or no reference any more, and the engine forgets the stream.

    unboostable: phrases that are not boosted, each with the reason, as soon as it is known.
    """

    def __init__(
        self,
        open_stream: Callable[[Sink], StreamPort],
        pushes: Iterator[Push],
        *,
        writing: Writing,
    ) -> None:
        """writing: how results are written. The stream is opened by the first step."""
        self.unboostable: list[UnboostablePhrase] = []
        # It does not know this object: without a circle it is freed, and so ended, at once.
        self._utterances = _utterances(open_stream, pushes, writing, self.unboostable)

    def __next__(self) -> Utterance:
        """Return the next utterance, or the same with more in it.

        Raises:
            UndecodableAudio: what the blocks hold is not audio.
            StreamingError: no stream could be opened, or decoding failed.
        """
        return next(self._utterances)

    def close(self) -> None:
        """Stop listening; what was not told yet is lost."""
        self._utterances.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _utterances(
    open_stream: Callable[[Sink], StreamPort],
    pushes: Iterator[Push],
    writing: Writing,
    unboostable: list[UnboostablePhrase],
) -> Generator[Utterance]:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    stream = open_stream(events.put)
    shown = False
    try:
        for event in _events(stream, events, pushes):
            match event:
                case Partial() | Final():
                    utterance = Utterance.of(event, writing)
                    # Without words it is news to those alone who were shown some.
                    if utterance.text or shown:
                        yield utterance
                    shown = not utterance.is_final
                case UnboostablePhrase():
                    unboostable.append(event)
                case Closed():
                    return
                case Failed(error):
                    raise error
    finally:
        stream.ask(Cancel())


def _events(
    stream: StreamPort, events: queue.SimpleQueue[Event], pushes: Iterator[Push]
) -> Iterator[Event]:
    """The stream's events; between them it is fed, as far as its backlog takes it."""
    for push in pushes:
        with suppress(StreamClosed):  # it has failed: its last event says why
            while not _pushed(stream, push):
                yield events.get()  # room, at the latest
        while not events.empty():
            yield events.get()
    with suppress(StreamClosed):
        stream.ask(FINISH)
    while True:
        yield events.get()


def _pushed(stream: StreamPort, push: Push) -> bool:
    try:
        stream.ask(push)
    except BacklogFull:
        return False
    return True
