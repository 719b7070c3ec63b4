"""Everything this package raises on purpose.

StreamingError
├── EngineFull           every slot is taken
├── EngineStopped        the engine is not running (not started, stopped, or it broke)
├── StreamClosed         the stream was finished, cancelled, or has failed
├── BacklogFull          the stream holds as much undecoded audio, or as many requests, as it may
├── InvalidAudio         samples that are not mono float32 in [-1, 1]
├── InvalidLogProbs      an array that does not hold log-probabilities of the graph's tokens
├── InvalidStreamConfig  an option of one stream is out of range
├── InvalidEngineConfig  an option of the engine is out of range
│   └── MissingPart      an option of the engine needs a part that the model does not have
├── UnusableGraph        a decoding graph that cannot be read, or not with this model
├── DecodingFailed       decoding one stream raised; the cause is chained
│   ├── ListsNotCompiled compiling what a request brings raised; its engine is as well as before
│   └── OutputNotFinite  the network put out what is no finite number
└── EngineBroken         nothing but failures was left: the engine has ended itself
"""

from earshot.errors import EarshotError


class StreamingError(EarshotError):
    """Base of every error of this package."""


class EngineFull(StreamingError):
    """Every slot is taken."""


class EngineStopped(StreamingError):
    """The engine is not running."""


class StreamClosed(StreamingError):
    """The stream was finished, cancelled, or has failed."""


class BacklogFull(StreamingError):
    """The stream holds as much undecoded audio, or as many requests, as it may.

    A `RoomAvailable` event will follow.
    """


class InvalidAudio(StreamingError):
    """The samples are not mono float32 in [-1, 1]."""


class InvalidLogProbs(StreamingError):
    """The array does not hold log-probabilities of the graph's tokens; the message says why."""


class InvalidStreamConfig(StreamingError):
    """An option of one stream is out of range."""


class InvalidEngineConfig(StreamingError):
    """An option of the engine is out of range."""


class MissingPart(InvalidEngineConfig):
    """An option of the engine needs a part that the model does not have."""


class UnusableGraph(StreamingError):
    """The decoding graph cannot be read, or not be used with this model."""


class DecodingFailed(StreamingError):
    """Decoding one stream raised; the cause is chained as `__cause__`."""


class ListsNotCompiled(DecodingFailed):
    """Phrases or entities of a request cannot be compiled; no work for the stream has failed."""


class OutputNotFinite(DecodingFailed):
    """The network put out what is no finite number: its weights overflow, or are spoilt."""

    def __init__(self, message: str = "the network's output is not finite") -> None:
        super().__init__(message)


class EngineBroken(StreamingError):
    """Nothing but failures was left, stream after stream: the engine ends itself."""
