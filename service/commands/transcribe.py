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
from earshot.service.errors import ServiceError, StartupError
from earshot.service.files.file_transcription import FileTranscription
from earshot.service.http.request_id import new_request_id
from earshot.service.http.upload import temporary_file
from earshot.service.request.parameters import FILE_FORMATS, ListenParameters
from earshot.service.served_model import ServedModel
from earshot.streaming.errors import StreamingError
from earshot.streaming.samples import Samples

_SUFFIXES = {"text": ".txt", "json": ".json", "srt": ".srt", "vtt": ".vtt"}
SOME_FAILED = 1
STANDARD_INPUT = Path("-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare files, format, stream and model."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="- for standard input")
    parser.add_argument("--format", choices=FILE_FORMATS, default="text")
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write NAME.txt, .json, .srt or .vtt there"
    )
    add_stream_flags(parser)
    add_settings_flags(parser, ENGINE_SETTINGS)


def run(arguments: argparse.Namespace) -> int:
    """Transcribe each file; returns 1 if any failed, after doing the others."""
    settings = settings_from(arguments, ENGINE_SETTINGS)
    parameters = parameters_from(arguments, settings, is_file=True)
    if arguments.output_dir is not None:
        _check_outputs(arguments.output_dir, arguments.files)
    _check_inputs(arguments.files)
    from earshot.service.core.engine_setup import running_engine, served_model

    bars = progress_bars(done("s"), TimeRemainingColumn())
    with running_engine(settings) as engine, bars as progress:
        model = served_model(engine, settings)
        parameters = in_language(parameters, arguments.language, model.languages)
        transcriber = _Transcriber(engine, model, parameters, progress)
        failed = [path for path in arguments.files if not transcriber.do(path, arguments)]
    return SOME_FAILED if failed else 0


def _check_inputs(files: Sequence[Path]) -> None:
    """One that is missing is said in its turn; where all are, no model need be loaded for it."""
    if not any(path == STANDARD_INPUT or path.exists() for path in files):
        raise StartupError(f"no such file: {', '.join(map(str, files))}")


def _check_outputs(directory: Path, files: Sequence[Path]) -> None:
    if not directory.is_dir():
        raise StartupError(f"--output-dir {directory} is not a directory")
    if STANDARD_INPUT in files:
        raise StartupError("--output-dir: standard input has no name to write to")
    first: dict[str, Path] = {}
    for path in files:
        other = first.setdefault(path.stem, path)
        if other != path:
            raise StartupError(f"--output-dir: {other} and {path} would write the same file")


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

    def do(self, path: Path, arguments: argparse.Namespace) -> bool:
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
            if len(arguments.files) > 1 and self._parameters.format != "json":
                say(f"==> {path} <==")
            say(text.rstrip("\n"))
        return True

    def _text(self, path: Path, task: TaskID) -> str:
        audio = _Watched(path, self._engine.sample_rate_hz, self._progress, task)
        transcript = FileTranscription(self._engine, audio, self._parameters.stream).run()
        for each in transcript.unboostable:
            tell(f"earshot transcribe: not boosted: {each.phrase}: {each.reason}")
        messages = ResultMessages(new_request_id(), self._model, writing=self._parameters.writing)
        return FileAnswer(self._parameters, messages, _sha256(path)).body(transcript)


class _Watched:
    """An audio file whose reading moves a progress bar; the engine's backlog paces the reading."""

    def __init__(self, path: Path, rate_hz: int, progress: Progress, task: TaskID) -> None:
        self._audio = AudioFile(path, rate_hz)
        self._rate_hz = rate_hz
        self._progress = progress
        self._task = task
        self.duration_s = self._audio.duration_s
        progress.update(task, total=self.duration_s)

    def blocks(self) -> Iterator[Samples]:
        """Yield the file's blocks."""
        for block in self._audio.blocks():
            yield block
            self._progress.advance(self._task, len(block) / self._rate_hz)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
