"""`earshot transcribe`: files to text, without a server."""

import argparse
import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import Progress, TaskID, TimeRemainingColumn

from earshot.service.audio.file_reader import AudioFile
from earshot.service.commands.options.console import done, progress_bars, say, tell
from earshot.service.commands.options.positive_numbers import positive_count
from earshot.service.commands.options.recordings import (
    STANDARD_INPUT,
    make_output_dir,
    reason_against,
    recordings_of,
)
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
from earshot.service.core.engine_port import EnginePort
from earshot.service.deepgram.file_answer import FileAnswer
from earshot.service.deepgram.response.result_messages import ResultMessages
from earshot.service.errors import BadRequest, ServiceError, StartupError
from earshot.service.files.file_transcription import AudioSource
from earshot.service.files.recording import RecordingTranscription, sources_of
from earshot.service.http.request_id import new_request_id
from earshot.service.http.upload import temporary_file
from earshot.service.request.parameters import FILE_FORMATS, ListenParameters
from earshot.service.served_model import ServedModel
from earshot.service.transcript import Transcript
from earshot.streaming.errors import StreamingError
from earshot.streaming.samples import Samples

_SUFFIXES = {"text": ".txt", "json": ".json", "srt": ".srt", "vtt": ".vtt"}
SOME_FAILED = 1
NONE_TO_DO = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare files, format, stream and model."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE",
        help="audio file, folder of such, or - for standard input",
    )  # fmt: skip
    parser.add_argument("--format", choices=FILE_FORMATS, default="text")
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR",
        help="write NAME.txt, .json, .srt or .vtt there; made if absent",
    )  # fmt: skip
    _add_answer_flags(parser)
    add_stream_flags(parser)
    add_settings_flags(parser, ENGINE_SETTINGS)


def run(arguments: argparse.Namespace) -> int:
    """Transcribe each file; returns 1 if any failed, after doing the others."""
    settings = settings_from(arguments, ENGINE_SETTINGS)
    settings.check_model()
    parameters = parameters_from(arguments, settings, is_file=True)
    _check_format(arguments)
    files = recordings_of(arguments.files)
    if arguments.output_dir is not None:
        make_output_dir(arguments.output_dir, files)
    sound = [path for path in files if _is_sound(path)]
    if not sound:
        return NONE_TO_DO
    from earshot.service.core.engine_setup import running_engine, served_model

    bars = progress_bars(done("s"), TimeRemainingColumn())
    with running_engine(settings) as engine, bars as progress:
        model = served_model(engine, settings)
        parameters = in_language(parameters, arguments.language, model.languages)
        transcriber = _Transcriber(engine, model, parameters, progress)
        failed = [path for path in sound if not transcriber.do(path, arguments, len(files) > 1)]
    return SOME_FAILED if failed or sound != files else 0


def _add_answer_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--paragraphs", action="store_const", const="true",
        help="divide the text into paragraphs and sentences (--format json)",
    )  # fmt: skip
    parser.add_argument(
        "--alternatives", type=positive_count, metavar="N",
        help="other readings, up to so many with the best (--format json)",
    )  # fmt: skip
    parser.add_argument(
        "--multichannel", action="store_const", const="true",
        help="hear each channel by itself; all are mixed if absent",
    )  # fmt: skip


def _check_format(arguments: argparse.Namespace) -> None:
    """Raises StartupError for what the format has no place for."""
    for name in ("paragraphs", "alternatives"):
        if getattr(arguments, name) is not None and arguments.format != "json":
            raise StartupError(f"--{name}: only --format json has a place for them")


def _is_sound(path: Path) -> bool:
    """Whether a file can be transcribed; says why not, before a model is loaded."""
    reason = reason_against(path)
    if reason is not None:
        tell(f"earshot transcribe: {path}: {reason}")
    return reason is None


@contextmanager
def _file(path: Path) -> Iterator[Path]:
    """The file itself, or one with what comes from standard input: formats need seeking."""
    if path != STANDARD_INPUT:
        yield path
        return
    with temporary_file() as (copy, file):
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield copy


class _Transcriber:
    """Does one file after the other."""

    def __init__(
        self,
        engine: EnginePort,
        model: ServedModel,
        parameters: ListenParameters,
        progress: Progress,
    ) -> None:
        self._engine = engine
        self._model = model
        self._parameters = parameters
        self._progress = progress

    def do(self, path: Path, arguments: argparse.Namespace, among_others: bool) -> bool:
        """Write the text of one file; False after saying why it could not be read."""
        task = self._progress.add_task(path.name, total=None)
        try:
            with _file(path) as file:
                text = self._text(file, task)
        except (ServiceError, StreamingError, OSError) as error:
            tell(f"earshot transcribe: {path}: {error}")
            return False
        finally:
            self._progress.remove_task(task)
        if arguments.output_dir is not None:
            target = arguments.output_dir / (path.stem + _SUFFIXES[self._parameters.format])
            target.write_text(text, encoding="utf-8")
        else:
            if among_others and self._parameters.format != "json":
                say(f"==> {path} <==")
            say(text.rstrip("\n"))
        return True

    def _text(self, path: Path, task: TaskID) -> str:
        most = self._parameters.channels_apart
        apart = most is not None
        audio = _Watched(path, self._engine.sample_rate_hz, self._progress, task, apart=apart)
        if most is not None and audio.channels > most:
            raise BadRequest(
                f"--multichannel: {audio.channels} channels; at most {most} are heard apart"
            )
        sources = audio.sources()
        heard = RecordingTranscription(
            self._engine, sources, self._parameters.stream, lambda channel, event: None
        ).run()
        self._tell_lacks(path, heard)
        messages = ResultMessages(
            new_request_id(),
            self._model,
            writing=self._parameters.writing,
            channels=len(sources),
        )
        return FileAnswer(self._parameters, messages, _sha256(path)).body(*heard)

    def _tell_lacks(self, path: Path, channels: Sequence[Transcript]) -> None:
        for each in dict.fromkeys(each for channel in channels for each in channel.unboostable):
            tell(f"earshot transcribe: not boosted: {each.phrase}: {each.reason}")
        for number, channel in enumerate(channels):
            if channel.failed:
                tell(f"earshot transcribe: {path}: channel {number}: decoding failed")


class _Watched:
    """An audio file whose reading moves a progress bar; the engine's backlog paces the reading."""

    def __init__(
        self, path: Path, rate_hz: int, progress: Progress, task: TaskID, *, apart: bool
    ) -> None:
        self._audio = AudioFile(path, rate_hz, apart=apart)
        self._apart = apart
        self._rate_hz = rate_hz
        self._progress = progress
        self._task = task
        self.duration_s = self._audio.duration_s
        self.channels = self._audio.channels

    def sources(self) -> list[AudioSource]:
        """The channels, each by itself, or their mix as the only one."""
        sources = sources_of(self, apart=self._apart)
        each_s = self.duration_s
        self._progress.update(self._task, total=None if each_s is None else each_s * len(sources))
        return sources

    def blocks(self, channel: int | None = None) -> Iterator[Samples]:
        """Yield the blocks of one channel, or of the mix of all."""
        for block in self._audio.blocks(channel):
            yield block
            self._progress.advance(self._task, len(block) / self._rate_hz)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
