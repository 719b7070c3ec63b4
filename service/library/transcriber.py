"""A model, loaded and running inside a program, and what it makes of files and live audio."""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Self, TypeAlias

from earshot.service.core.engine_port import EnginePort, Sink, StreamPort
from earshot.service.core.engine_setup import STOP_S, languages_of, load_engine
from earshot.service.files.file_transcription import FileTranscription
from earshot.service.library.boosted_phrases import boosts_of
from earshot.service.library.given_audio import Audio, FilePath, opened
from earshot.service.library.live_utterances import LiveUtterances
from earshot.service.library.sample_blocks import Block, SampleBlocks
from earshot.service.library.utterance import Transcription, Utterance
from earshot.service.request.endpoint_rules import EndpointRules
from earshot.service.settings import Settings
from earshot.service.writing import Writing
from earshot.streaming.entities import NO_ENTITIES, read_entities
from earshot.streaming.errors import EngineStopped, InvalidStreamConfig
from earshot.streaming.graph_config import GraphOptions
from earshot.streaming.language_tags import served_tag
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.stream_config import Boost, StreamConfig

EntityLists: TypeAlias = Mapping[str, Sequence[str] | Mapping[str, float]]


class Transcriber:
    """A model that transcribes files and live audio, several at a time, from any threads.

    It holds a thread and the model's memory until `close`, or the end of a `with` block. No socket
    is opened.

    model: a model's directory; the bundled model if absent.
    graph: a compiled graph, or "none"; the model's own if absent.
    device: "cpu", "cuda", or "auto", which takes a GPU where there is one.
    threads: of the processor; all if absent, with a GPU all but one.

    What is not given here, and all other settings of docs/operations.md, come from the environment
    (`EARSHOT_MODEL` ...), as for the commands.

    Raises:
        StartupError: the model or the graph cannot be used as asked; the message says why.
    """

    def __init__(
        self,
        model: FilePath | None = None,
        *,
        graph: FilePath | None = None,
        device: Literal["auto", "cpu", "cuda"] | None = None,
        threads: int | None = None,
    ) -> None:
        self._settings = Settings.load(model=model, graph=graph, device=device, threads=threads)
        engine = load_engine(self._settings)
        engine.start()
        self._engine: EnginePort | None = engine
        self._stop = weakref.finalize(self, engine.stop, STOP_S)  # who forgets to close, too
        self._sample_rate_hz = engine.sample_rate_hz
        self._languages = languages_of(engine, self._settings)
        self._endpoint = EndpointRules.of(self._settings, detects_turns=engine.model.detects_turns)

    @property
    def sample_rate_hz(self) -> int:
        """The rate that the model listens at; audio of other rates is resampled."""
        return self._sample_rate_hz

    def transcribe(
        self,
        audio: Audio,
        sample_rate_hz: int | None = None,
        *,
        boosts: Iterable[str | Boost] = (),
        keyterm: str | Iterable[str] = (),
        lm: str | None = None,
        entities: EntityLists | None = None,
        smart_format: bool = False,
        punctuate: bool | None = None,
        language: str | None = None,
    ) -> Transcription:
        """Transcribe a recording.

        audio: a file of nearly any format, its channels mixed, as its path, its bytes, or an open
            file, which is read to its end; or samples, a mono array `(N,)` of floats in [-1, 1] or
            of int16.
        sample_rate_hz: of samples; files say their own.
        boosts: phrases to favour, in plain text or with a weight of their own.
        keyterm: more of them, one or several, as the parameter of requests: `"phrase:weight"`.
        lm: language models by their names in the setting `lm_dir`, with their shares, as
            `"on:0.7,law:0.3"`; "off" searches no graph.
        entities: members of the classes of words that these models have, by class, each a word or
            several, or with weights.
        smart_format: numbers, dates and money in figures (English).
        punctuate: capitals, full stops, commas and question marks, by the model's tagger
            (English); as `smart_format` if absent.
        language: BCP 47 tag of what is spoken, in any region; a model of several finds out where it
            can if absent.

        Raises:
            UndecodableAudio: the file is not there, or not whole, or no audio, or the samples are
                none, or of no rate.
            StreamingError: the transcriber is closed or busy (`EngineFull`), a boost, a
                language model or an entity makes no sense, the model does not know the language, or
                decoding failed.
        """
        phrases = boosts_of(boosts, keyterm, self._settings)
        writing = _writing(smart_format, punctuate)
        engine = self._running()
        graph = _graph_options(lm, entities)
        config = self._config(phrases, graph, language, writing)
        with opened(audio, sample_rate_hz, engine.sample_rate_hz) as source:
            said = FileTranscription(engine, source, config).run()
        return Transcription(
            utterances=tuple(Utterance.of(each, writing) for each in said.finals),
            duration_s=said.duration_s,
            unboostable=tuple(said.unboostable),
        )

    def stream(
        self,
        blocks: Iterable[Block],
        sample_rate_hz: int | None = None,
        *,
        boosts: Iterable[str | Boost] = (),
        keyterm: str | Iterable[str] = (),
        lm: str | None = None,
        entities: EntityLists | None = None,
        smart_format: bool = False,
        punctuate: bool | None = None,
        language: str | None = None,
        interim_results: bool = True,
    ) -> LiveUtterances:
        """Transcribe live audio as it is said: an iterator of utterances.

        blocks: mono arrays `(N,)` of floats in [-1, 1] or of int16, or bytes of 16-bit
            little-endian samples, of any length each. They are asked for one at a time while the
            result is iterated over; 100 ms each is a good measure for a microphone.
        sample_rate_hz: of the blocks; the model's own if absent.
        interim_results: utterances while they are said, too (`is_final` is not set).
        boosts, keyterm, lm, entities, smart_format, punctuate, language: as for `transcribe`; what
            is not final has no figures.

        Raises:
            UndecodableAudio: the rate is not one of audio.
            StreamingError: the transcriber is closed, a boost, a language model or an entity makes
                no sense, or the model does not know the language.
        """
        self._running()
        phrases = boosts_of(boosts, keyterm, self._settings)
        writing = _writing(smart_format, punctuate)
        graph = _graph_options(lm, entities)
        config = replace(
            self._config(phrases, graph, language, writing),
            interim_results=interim_results,
            endpoint=self._endpoint.live,
        )
        rate_hz = self.sample_rate_hz if sample_rate_hz is None else sample_rate_hz
        audio = SampleBlocks(blocks, rate_hz, self.sample_rate_hz)
        return LiveUtterances(partial(self._open, config), audio.pushes(), writing=writing)

    def close(self) -> None:
        """Free the model; what is being transcribed raises EngineStopped. Again does nothing."""
        self._engine = None
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, config: StreamConfig, sink: Sink) -> StreamPort:
        return self._running().open(config, sink)

    def _running(self) -> EnginePort:
        if self._engine is None:
            raise EngineStopped("this transcriber is closed")
        return self._engine

    def _config(
        self,
        boosts: tuple[Boost, ...],
        graph: GraphOptions,
        language: str | None,
        writing: Writing,
    ) -> StreamConfig:
        """That of a recording."""
        return StreamConfig(
            punctuate=writing.punctuate,
            language=None if language is None else self._known(language),
            interim_results=False,
            endpoint=self._endpoint.plain,
            boosts=boosts,
            graph=graph,
        )

    def _known(self, language: str) -> str:
        """The model's own tag of a language, where it says which it knows."""
        tag = served_tag(language, self._languages) if self._languages else language
        if tag is None:
            known = ", ".join(self._languages)
            raise InvalidStreamConfig(f"language {language!r}: the model knows {known}")
        return tag


def transcribe(
    audio: Audio,
    sample_rate_hz: int | None = None,
    *,
    model: FilePath | None = None,
    graph: FilePath | None = None,
    device: Literal["auto", "cpu", "cuda"] | None = None,
    boosts: Iterable[str | Boost] = (),
    keyterm: str | Iterable[str] = (),
    lm: str | None = None,
    entities: EntityLists | None = None,
    smart_format: bool = False,
    punctuate: bool | None = None,
    language: str | None = None,
) -> Transcription:
    """Transcribe a recording; for more than one a `Transcriber` loads the model once.

    Takes what `Transcriber` and its `transcribe` take, and raises what they raise.
    """
    with Transcriber(model, graph=graph, device=device) as transcriber:
        return transcriber.transcribe(
            audio,
            sample_rate_hz,
            boosts=boosts,
            keyterm=keyterm,
            lm=lm,
            entities=entities,
            smart_format=smart_format,
            punctuate=punctuate,
            language=language,
        )


def _writing(smart_format: bool, punctuate: bool | None) -> Writing:
    return Writing(smart_format if punctuate is None else punctuate, smart_format)


def _graph_options(lm: str | None, entities: EntityLists | None) -> GraphOptions:
    return GraphOptions(
        lm=None if lm is None else read_lm(lm),
        entities=NO_ENTITIES if entities is None else read_entities(entities),
    )
