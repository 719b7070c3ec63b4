"""Streaming speech recognition.

Offline, in Python: `transcribe` for one file, a `Transcriber` for more, and for live audio
(docs/python.md); a `CtcDecoder` for the log-probabilities of anybody's CTC model
(docs/library.md). The service is `earshot serve`.

In the repository the packages are folders of the top level and this one holds links to them, so
that everybody, the installed wheel and every tool, knows each module by one name. The names below
are imported when they are asked for: `import earshot` alone loads no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "Boost",
    "CtcDecoder",
    "CtcTokens",
    "EarshotError",
    "GraphSearchConfig",
    "StartupError",
    "StreamingError",
    "Transcriber",
    "Transcription",
    "UndecodableAudio",
    "Utterance",
    "Word",
    "build_graph",
    "transcribe",
]

if TYPE_CHECKING:
    __version__: str
    from earshot.errors import EarshotError
    from earshot.service.errors import StartupError, UndecodableAudio
    from earshot.service.library.transcriber import Transcriber, transcribe
    from earshot.service.library.utterance import Transcription, Utterance
    from earshot.streaming.errors import StreamingError
    from earshot.streaming.events import Word
    from earshot.streaming.graph_config import GraphSearchConfig
    from earshot.streaming.posteriors.ctc_decoder import CtcDecoder
    from earshot.streaming.posteriors.ctc_tokens import CtcTokens
    from earshot.streaming.posteriors.graph_build import build_graph
    from earshot.streaming.stream_config import Boost
else:
    _HOMES = {
        "Boost": "earshot.streaming.stream_config",
        "CtcDecoder": "earshot.streaming.posteriors.ctc_decoder",
        "CtcTokens": "earshot.streaming.posteriors.ctc_tokens",
        "EarshotError": "earshot.errors",
        "GraphSearchConfig": "earshot.streaming.graph_config",
        "StartupError": "earshot.service.errors",
        "StreamingError": "earshot.streaming.errors",
        "Transcriber": "earshot.service.library.transcriber",
        "Transcription": "earshot.service.library.utterance",
        "UndecodableAudio": "earshot.service.errors",
        "Utterance": "earshot.service.library.utterance",
        "Word": "earshot.streaming.events",
        "build_graph": "earshot.streaming.posteriors.graph_build",
        "transcribe": "earshot.service.library.transcriber",
    }

    def __getattr__(name: str) -> object:
        value: object
        if name == "__version__":
            value = import_module("importlib.metadata").version("earshot-asr")
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module 'earshot' has no attribute {name!r}")
        globals()[name] = value  # found at once from now on
        return value

    def __dir__() -> list[str]:  # without modules and what makes the names
        return [*__all__, "__version__"]
