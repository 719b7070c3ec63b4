"""Families of clients: the program that runs each, and what it can be expected to show."""

from dataclasses import dataclass

from benchmarks.clients import environments
from benchmarks.clients.environments import Environment


@dataclass(frozen=True)
class Family:
    """A client whose `program` in programs/ runs in its environment.

    texts: whole texts of one recording, of a stream and of files. errors: how many things are done
    wrongly on purpose, each of which has to arrive.
    """

    name: str
    environment: Environment
    program: str
    remark: str
    texts: int = 2
    errors: int = 2
    has_partials: bool = True
    is_wyoming: bool = False
    needs_tls: bool = False


FAMILIES = (
    Family(
        "Deepgram, Python 7", environments.DEEPGRAM_7, "deepgram_python.py",
        "live and file. Of a refused handshake the SDK tells the status alone, not the reason",
    ),
    Family(
        "Deepgram Flux, Python 7", environments.DEEPGRAM_7, "deepgram_flux.py",
        "turns: partials are of starts, updates and eager ends, texts of ends. A change that is "
        "none is told in `ConfigureFailure`",
        texts=1,
    ),
    Family(
        "Deepgram, Python 6", environments.DEEPGRAM_6, "deepgram_python.py",
        "as 7",
    ),
    Family(
        "Deepgram, Python 3", environments.DEEPGRAM_3, "deepgram_python_3.py",
        "live and file. A refused handshake is raised with `termination_exception_connect` alone; "
        "else `start` returns false",
    ),
    Family(
        "Deepgram, JavaScript", environments.DEEPGRAM_NODE, "deepgram.mjs",
        "as Python 7; a refused handshake is told to the callback of errors",
    ),
    Family(
        "LiveKit agents", environments.LIVEKIT, "livekit_agent.py",
        "the plugin for Deepgram with all its defaults: a stream, and `recognize`, which looks for "
        "a text in a refusal and so raises `APIConnectionError` without its status",
    ),
    Family(
        "Pipecat", environments.PIPECAT, "pipecat_pipeline.py",
        "`DeepgramSTTService` with all its defaults in a pipeline; frames of its VAD end turns. "
        "It sends no files",
        texts=1, errors=1,
    ),
    Family(
        "OpenAI, Python", environments.OPENAI, "openai_files.py",
        "a file, and one with events; partials are its deltas, one for each utterance",
    ),
    Family(
        "OpenAI, JavaScript", environments.OPENAI_NODE, "openai.mjs",
        "as in Python",
    ),
    Family(
        "OpenAI realtime, Python", environments.OPENAI, "openai_realtime.py",
        "a session of transcription; deltas are of words that are stable",
        texts=1,
    ),
    Family(
        "OpenAI realtime, JavaScript", environments.OPENAI_NODE, "openai_realtime.mjs",
        "as in Python. It connects by `wss` whatever its address says, here to TLS in front",
        texts=1, needs_tls=True,
    ),
    Family(
        "Vosk", environments.VOSK, "vosk_transcriber.py",
        "the functions of `vosk-transcriber --server`, without the model of Vosk's that its "
        "command loads even then, in real time: a file sent at once has hardly a partial. The "
        "protocol has no errors, and the transcriber no parameters: a path where nobody answers",
        texts=1, errors=1,
    ),
    Family(
        "Wyoming", environments.WYOMING, "wyoming_client.py",
        "the client that Home Assistant has; one text for each utterance",
        texts=1, errors=1, has_partials=False, is_wyoming=True,
    ),
    Family(
        "WhisperLiveKit", environments.WHISPERLIVEKIT, "whisperlivekit_client.py",
        "its test client, loaded without its package, which wants torch and Whisper",
        texts=1, errors=1,
    ),
)  # fmt: skip

NOT_RUN = (
    ("WeNet's runtime clients", "C++, of no registry; our tests speak their protocol"),
    ("Home Assistant", "a house of its own; its client is Wyoming's"),
    ("Deepgram's SDKs for Go, Java and .NET", "their tools are not on this machine"),
)
"""Those that are named elsewhere, and why they are not here."""
