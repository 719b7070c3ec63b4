"""The messages on the wire, in the shape of Deepgram's API; docs/protocol.md describes each."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    create_model,
)

from earshot.service.files.file_job import Progress
from earshot.service.request.request_warning import RequestWarning
from earshot.streaming.lm_mix import read_lm
from earshot.streaming.parts.table import part_parameters
from earshot.streaming.stream_config import WHOLE


class Message(BaseModel):
    """Base of what the server sends; fields that are None are left out."""

    model_config = ConfigDict(frozen=True)

    def to_json(self) -> str:
        """Serialise for the socket or a response body."""
        return self.model_dump_json(exclude_none=True)


class WireWord(Message):
    """A word; times in seconds from the start of the audio."""

    word: str
    start: float
    end: float
    confidence: float
    punctuated_word: str
    boosted: bool | None = None


class Sentence(Message):
    """Words between two pauses."""

    text: str
    start: float
    end: float


class Paragraph(Message):
    """Sentences that follow each other."""

    sentences: list[Sentence]
    num_words: int
    start: float
    end: float


class Paragraphs(Message):
    """A file's text, divided."""

    transcript: str
    paragraphs: list[Paragraph]


class WireAlternative(Message):
    """One reading of the audio; the first of a list is the best."""

    transcript: str
    confidence: float
    words: list[WireWord]
    paragraphs: Paragraphs | None = None


class Channel(Message):
    """What one channel says."""

    alternatives: list[WireAlternative]


class ModelInfo(Message):
    """The model that listened."""

    name: str
    version: str
    arch: str


class ResultsMetadata(Message):
    """Which request and model a result is from; `warnings` are those that no final had before."""

    request_id: str
    model_info: ModelInfo
    model_uuid: str
    warnings: list[RequestWarning] | None = None


class Results(Message):
    """A partial (`is_final` false) or final result for `duration` seconds from `start`."""

    type: Literal["Results"] = "Results"
    channel_index: tuple[int, int] = (0, 1)
    duration: float
    start: float
    is_final: bool
    speech_final: bool
    from_finalize: bool
    channel: Channel
    metadata: ResultsMetadata
    stable_words: int | None = None
    second_pass_failed: Literal[True] | None = None


class Metadata(Message):
    """The last message of a stream that ended well."""

    type: Literal["Metadata"] = "Metadata"
    transaction_key: Literal["deprecated"] = "deprecated"
    request_id: str
    sha256: str
    created: str
    duration: float
    channels: int = 1
    models: list[str]
    model_info: dict[str, ModelInfo]
    warnings: list[RequestWarning] | None = None


class SpeechStartedMessage(Message):
    """Speech after silence (`vad_events`)."""

    type: Literal["SpeechStarted"] = "SpeechStarted"
    channel: tuple[int, int] = (0, 1)
    timestamp: float


class UtteranceEndMessage(Message):
    """No word for `utterance_end_ms`."""

    type: Literal["UtteranceEnd"] = "UtteranceEnd"
    channel: tuple[int, int] = (0, 1)
    last_word_end: float


class ConfigureSuccess(Message):
    """A Configure took effect; `keyterms` lists the phrases now boosted."""

    type: Literal["ConfigureSuccess"] = "ConfigureSuccess"
    request_id: str
    keyterms: list[str] | None = None
    warnings: list[RequestWarning] | None = None


class ConfigureFailure(Message):
    """A Configure was refused; the settings before it stay."""

    type: Literal["ConfigureFailure"] = "ConfigureFailure"
    request_id: str
    code: Literal[
        "CONFIGURE_KEYTERM_LIMIT_EXCEEDED",
        "CONFIGURE_KEYTERM_INVALID",
        "CONFIGURE_LM_INVALID",
        "CONFIGURE_ALREADY_PENDING",
        "CONFIGURE_INTERNAL_ERROR",
    ]
    description: str


class StreamWarning(Message):
    """A warning as a message of its own: for who asked for that, SDKs do not know it."""

    type: Literal["Warning"] = "Warning"
    code: str
    parameter: str
    phrase: str | None
    description: str

    @classmethod
    def of(cls, warning: RequestWarning) -> "StreamWarning":
        """Say it."""
        return cls(
            code=warning.type.upper(),
            parameter=warning.parameter,
            phrase=warning.phrase,
            description=warning.message.removeprefix(f"{warning.phrase}: "),
        )


class Error(Message):
    """A message could not be understood, or (before a close frame) why the socket is closed."""

    type: Literal["Error"] = "Error"
    variant: str
    description: str
    message: str | None = None


class FileMetadata(Message):
    """About one transcribed file."""

    transaction_key: Literal["deprecated"] = "deprecated"
    request_id: str
    sha256: str
    created: str
    duration: float
    channels: int = 1
    models: list[str]
    model_info: dict[str, ModelInfo]
    warnings: list[RequestWarning] | None = None


class Utterance(Message):
    """One segment of a file, from pause to pause."""

    start: float
    end: float
    confidence: float
    channel: int = 0
    transcript: str
    words: list[WireWord]
    id: str


class FileResults(Message):
    """The text of one file, whole and by utterance."""

    channels: list[Channel]
    utterances: list[Utterance]


class FileResponse(Message):
    """The JSON answer to a file."""

    metadata: FileMetadata
    results: FileResults


class FileProgress(Message):
    """How far a file is; `total_s` is absent when the file does not say."""

    done_s: float
    total_s: float | None = None

    @classmethod
    def of(cls, progress: Progress) -> "FileProgress":
        """To a hundredth of a second."""
        total_s = progress.total_s
        return cls(
            done_s=round(progress.done_s, 2), total_s=None if total_s is None else round(total_s, 2)
        )


class ErrorBody(Message):
    """The body of every HTTP error."""

    err_code: str
    err_msg: str
    request_id: str


class KeepAlive(BaseModel):
    """Hold the socket open without audio."""

    type: Literal["KeepAlive"]


class Finalize(BaseModel):
    """Give the final for all audio sent so far."""

    type: Literal["Finalize"]


class CloseStream(BaseModel):
    """End the stream: last finals, Metadata, close 1000."""

    type: Literal["CloseStream"]


_MODELS = [each.name for each in part_parameters() if each.kind == "models"]


def _configurable() -> dict[str, Any]:
    """Parameters of the model's parts that may change in the middle of a stream."""
    types: dict[str, Any] = {
        "number": StrictFloat,
        "integer": StrictInt,
        "boolean": StrictBool,
        "models": StrictStr,
    }
    return {
        parameter.name: (types[parameter.kind] | None, None)
        for parameter in part_parameters()
        if parameter.into[0] in ("graph", "weights")
    }


if TYPE_CHECKING:
    ConfigureParts = BaseModel
else:
    ConfigureParts = create_model("ConfigureParts", **_configurable())


_OF_NO_PART = {"type", "keyterms", "keywords", "chunk", "entities", "features", "mode"}


class Configure(ConfigureParts):
    """Replace the boosted phrases or the use of the graph; what is left out or null stays."""

    type: Literal["Configure"]
    # A long list of wrong things is one error, not one for each.
    keyterms: Annotated[list[str] | None, FailFast()] = None
    keywords: Annotated[list[str] | None, FailFast()] = None
    chunk: StrictFloat | StrictInt | Literal["whole"] | None = None
    entities: Any = None
    """Members of the language models' classes; {} is none. `read_entities` says what is wrong."""
    features: Any = None
    """Deepgram's; nothing of it can be changed here."""
    mode: Any = None
    """Fixed for a stream."""

    @property
    def chunk_ms(self) -> float | None:
        """Its chunk, `WHOLE` for whole segments; None was not named."""
        return WHOLE if isinstance(self.chunk, str) else self.chunk

    @property
    def of_parts(self) -> dict[str, Any]:
        """What it asks of the model's parts, by parameter; None was not named.

        Raises InvalidStreamConfig for language models that are no names with weights.
        """
        values = self.model_dump(exclude=_OF_NO_PART)
        for name in _MODELS:
            if values.get(name) is not None:
                values[name] = read_lm(values[name])
        return values

    @property
    def changes_nothing(self) -> bool:
        """Whether it names nothing that a session can change."""
        return not self.model_dump(exclude_none=True, exclude={"type", "features", "mode"})


ControlMessage = Annotated[
    KeepAlive | Finalize | CloseStream | Configure, Field(discriminator="type")
]
CONTROL: TypeAdapter[KeepAlive | Finalize | CloseStream | Configure] = TypeAdapter(ControlMessage)
