"""Streams a second of sound as the README of Deepgram's Python SDK does, and prints what came.

A program of its own, so that it runs with whichever release of the SDK is on its path. Arguments:
the server's port, then keyterms: one stream for each, and one for all of them. Output: of each
stream the lines of the README's handler and a line of JSON.
"""

import inspect
import json
import sys

import numpy as np
from deepgram import DeepgramClient
from deepgram.core.events import EventType
from deepgram.environment import DeepgramClientEnvironment


def main(port: str, *keyterms: str) -> None:
    """Listen with each term alone, then with all."""
    http, ws = f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}"
    addresses = {"base": http, "production": ws, "agent": ws, "agent_rest": http}
    known = inspect.signature(DeepgramClientEnvironment).parameters
    here = DeepgramClientEnvironment(**{name: addresses[name] for name in known})
    client = DeepgramClient(api_key="any", environment=here)
    for asked in (*([term] for term in keyterms), list(keyterms)):
        print(json.dumps(heard(client, asked), ensure_ascii=False))  # noqa: T201


def heard(client: DeepgramClient, keyterms: list[str]) -> dict[str, list[str]]:
    """Send all, listen until the end."""
    said: list[str] = []
    errors: list[str] = []
    with client.listen.v1.connect(
        model="nova-3", encoding="linear16", sample_rate="16000", keyterm=keyterms
    ) as connection:

        def on_message(message: object) -> None:
            print(f"Received {message.type} event")  # type: ignore[attr-defined]  # noqa: T201
            if hasattr(message, "channel") and hasattr(message.channel, "alternatives"):
                said.append(message.channel.alternatives[0].transcript)

        connection.on(EventType.MESSAGE, on_message)
        connection.on(EventType.ERROR, lambda error: errors.append(repr(error)))
        connection.send_media(np.full(16000, 9830, "<i2").tobytes())
        connection.send_close_stream()
        connection.start_listening()
    return {"keyterms": keyterms, "said": said, "errors": errors}


if __name__ == "__main__":
    main(*sys.argv[1:])
