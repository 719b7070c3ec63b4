"""`earshot listen`: the microphone to text, without a server."""

import argparse
import queue
from typing import Any

import numpy as np
from rich.live import Live
from rich.text import Text

from earshot.service.commands.options.console import live_line, say, tell
from earshot.service.commands.options.settings_flags import (
    ENGINE_SETTINGS,
    add_settings_flags,
    settings_from,
)
from earshot.service.commands.options.stream_flags import (
    add_stream_flags,
    in_language,
    parameters_from,
)
from earshot.service.core.engine_port import EnginePort, StreamPort
from earshot.service.errors import StartupError
from earshot.service.writing import Writing
from earshot.streaming.errors import BacklogFull, StreamClosed
from earshot.streaming.events import Closed, Event, Failed, Final, Partial, UnboostablePhrase
from earshot.streaming.requests import FINISH, Push
from earshot.streaming.samples import Samples
from earshot.streaming.stream_config import StreamConfig

BLOCK_MS = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare device, stream and model."""
    parser.add_argument("--microphone", metavar="NAME", help="name or number of the input device")
    add_stream_flags(parser)
    add_settings_flags(parser, ENGINE_SETTINGS)


def run(arguments: argparse.Namespace) -> int:
    """Listen until Ctrl-C."""
    settings = settings_from(arguments, ENGINE_SETTINGS)
    settings.check_model()
    parameters = parameters_from(arguments, settings, is_file=False)
    sounds = _sound_library()
    from earshot.service.core.engine_setup import languages_of, running_engine

    with running_engine(settings) as engine:
        served = languages_of(engine, settings)
        parameters = in_language(parameters, arguments.language, served)
        listening = _Listening(engine, parameters.stream, parameters.writing)
        listening.until_interrupted(sounds, arguments.microphone)
    return 0


def _sound_library() -> Any:
    """Import sounddevice, which is optional, or say which half of it is missing."""
    try:
        import sounddevice
    except ModuleNotFoundError as error:
        raise StartupError(
            "the microphone needs the package sounddevice: pip install 'earshot-asr[microphone]'"
        ) from error
    except OSError as error:
        raise StartupError(
            "sounddevice is here but the PortAudio library is not: install libportaudio2 "
            "(Debian, Ubuntu) or portaudio (Homebrew, Fedora)"
        ) from error
    return sounddevice


class _Listening:
    """One stream fed by the microphone's callback, shown as it comes."""

    def __init__(self, engine: EnginePort, config: StreamConfig, writing: Writing) -> None:
        self._rate_hz = engine.sample_rate_hz
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._stream: StreamPort = engine.open(config, self._events.put)
        self._writing = writing
        self._dropped = False

    def until_interrupted(self, sounds: Any, microphone: str | None) -> None:
        """Show partials in grey and finals for good; the last final comes after Ctrl-C."""
        try:
            source = sounds.InputStream(
                samplerate=self._rate_hz,
                channels=1,
                dtype="float32",
                blocksize=self._rate_hz * BLOCK_MS // 1000,
                device=int(microphone) if microphone and microphone.isdigit() else microphone,
                callback=self._heard,
            )
        except (sounds.PortAudioError, ValueError) as error:
            raise StartupError(f"the microphone cannot be opened: {error}") from error
        tell("Listening; Ctrl-C ends.")
        with live_line() as line:
            try:
                with source:
                    self._show(line)
            except KeyboardInterrupt:
                self._stream.ask(FINISH)
                self._show(line)

    def _heard(self, block: Samples, frames: int, clock: object, status: object) -> None:
        """Take a block on PortAudio's thread, which must not wait."""
        try:
            self._stream.ask(Push(np.ascontiguousarray(block[:, 0]).clip(-1.0, 1.0)))
        except BacklogFull:
            self._dropped = True
        except StreamClosed:
            return

    def _show(self, line: Live) -> None:
        while True:
            event = self._events.get()
            match event:
                case Partial():
                    line.update(Text(self._written(event), style="dim"))
                case Final():
                    line.update(Text(""))
                    if text := self._written(event):
                        say(text)
                case UnboostablePhrase(phrase, reason):
                    tell(f"not boosted: {phrase}: {reason}")
                case Closed():
                    break
                case Failed(error):
                    raise StartupError(f"decoding failed: {error}")
        if self._dropped:
            tell("Some audio was lost: this machine is too slow for the model.")

    def _written(self, result: Partial | Final) -> str:
        """The best text; none where nothing is left of it."""
        alternatives = self._writing.of(result).alternatives
        return alternatives[0].text if alternatives else ""
