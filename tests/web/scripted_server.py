"""A scripted server that speaks the protocol of /v1/listen, serves the page, and misbehaves."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from earshot.web import web_root

WORD_S = 0.25
BYTES_PER_S = 2 * 16_000
ENDLESS = (" ".join(["on", "and"] * 200),)
"""A sentence that stays partial for as long as a test takes."""


@dataclass
class Script:
    """What the scripted server says and how it misbehaves.

    sentences: said word by word, one word per 250 ms of audio, each sentence ending in a final.
    refuse: HTTP status of the handshake. close: (after seconds of audio, code, reason); code 1006
    cuts the connection without a close frame; cut_at_the_end: so does a CloseStream.
    limited: keywords whose weight counts as less.
    segments_at_once: a file's text comes before the gate is opened, not after.
    """

    sentences: tuple[str, ...] = ("smart mirror on the wall", "i heard you")
    confidence: float = 0.93
    refuse: int | None = None
    ready: bool = True
    full: bool = False
    close: tuple[float, int, str] | None = None
    cut_at_the_end: bool = False
    unboostable: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    boost_limits: dict[str, int] | None = None
    language_models: tuple[str, ...] = ()
    card: str | None = None
    upload_error: tuple[int, dict[str, str]] | None = None
    upload_gate: threading.Event = field(default_factory=threading.Event)
    segments_at_once: bool = False


class ScriptedServer:
    """Serves the page and plays the server's part; remembers what the page sent."""

    def __init__(self, port: int = 0) -> None:
        self.script = Script()
        self.messages: list[dict[str, Any]] = []
        self.queries: list[dict[str, list[str]]] = []
        self.audio_s = 0.0
        self.uploads: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        config = uvicorn.Config(self._app(), log_config=None, ws="websockets-sansio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="scripted-server")

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}/"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Die like a killed process: sockets are cut, nobody is told."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cut)
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._server.serve(sockets=[self._listener]))

    def _cut(self) -> None:
        for listening in self._server.servers:
            listening.close()
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()  # type: ignore[union-attr]
        self._server.should_exit = self._server.force_exit = True

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", lambda _: FileResponse(web_root() / "index.html")),
                Route("/readyz", self._readyz),
                Route("/v1/models", self._models),
                Route("/v1/card", lambda _: JSONResponse({"card": self.script.card})),
                Route("/v1/listen", self._upload, methods=["POST"]),
                WebSocketRoute("/v1/listen", self._listen),
                Mount("/web", _PageFiles(directory=web_root())),
            ]
        )

    async def _readyz(self, _: Request) -> Response:
        body = {"status": "busy" if self.script.full else "ready"}
        return JSONResponse(body, status_code=200 if self.script.ready else 503)

    async def _models(self, _: Request) -> Response:
        model = {"name": "scripted", "detects_turns": True, "graph": {"words": 9}}
        named = [{"name": name} for name in self.script.language_models]
        limits = self.script.boost_limits
        return JSONResponse({"stt": [model], "boost_limits": limits, "language_models": named})

    async def _listen(self, ws: WebSocket) -> None:
        if self.script.refuse is not None:
            await ws.send_denial_response(JSONResponse({}, status_code=self.script.refuse))
            return
        await ws.accept()
        params = ws.query_params
        self.queries.append({key: params.getlist(key) for key in params})
        try:
            await _Conversation(self, ws).run()
        except WebSocketDisconnect:
            return

    async def _upload(self, request: Request) -> Response:
        self.uploads.append(await request.body())
        params = request.query_params
        self.queries.append({key: params.getlist(key) for key in params})
        if self.script.upload_error is not None:
            status, body = self.script.upload_error
            return JSONResponse(body, status_code=status)
        return StreamingResponse(self._upload_events(), media_type="text/event-stream")

    async def _upload_events(self) -> AsyncIterator[str]:
        yield _event("progress", {"done_s": 15.0, "total_s": 60.0})
        if not self.script.segments_at_once:
            await asyncio.to_thread(self.script.upload_gate.wait, 20)
        for i, text in enumerate(self.script.sentences):
            yield _event("segment", _results(_words(text, 4.0 * i), 4.0 * i, is_final=True))
        await asyncio.to_thread(self.script.upload_gate.wait, 20)
        warnings = [{"message": f"{each}: cannot spell"} for each in self.script.unboostable]
        yield _event("result", {"metadata": {"warnings": warnings}, "results": {}})


class _PageFiles(StaticFiles):
    """As the real server gives them: browsers ask for each one each time."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class _Conversation:
    """One stream: words come as audio arrives."""

    def __init__(self, server: ScriptedServer, ws: WebSocket) -> None:
        self.server, self.ws, self.script = server, ws, server.script
        self.words = [
            (word, s, i + 1 == len(sentence.split()))
            for s, sentence in enumerate(self.script.sentences)
            for i, word in enumerate(sentence.split())
        ]
        self.audio_s = 0.0
        self.sentence: list[str] = []
        self.start_s = 0.0

    async def run(self) -> None:
        while True:
            message = await self.ws.receive()
            if message["type"] == "websocket.disconnect":
                return
            if (audio := message.get("bytes")) is not None:
                await self._hear(len(audio) / BYTES_PER_S)
            elif await self._obey(json.loads(message["text"])):
                return

    async def _hear(self, seconds: float) -> None:
        self.audio_s += seconds
        self.server.audio_s += seconds
        if self.script.close and self.audio_s >= self.script.close[0]:
            await self._break(*self.script.close[1:])
        while self.words and self.audio_s >= self.start_s + WORD_S * (len(self.sentence) + 1):
            word, _, last = self.words.pop(0)
            self.sentence.append(word)
            await self._say(is_final=last)

    async def _break(self, code: int, reason: str) -> None:
        if code != 1006:
            await self.ws.close(code, reason)
        raise WebSocketDisconnect(code)

    async def _obey(self, message: dict[str, Any]) -> bool:
        self.server.messages.append(message)
        if message["type"] == "Configure":
            await self._configure(message["keywords"])
        if message["type"] in ("Finalize", "CloseStream") and self.sentence:
            await self._say(is_final=True)
        if message["type"] != "CloseStream":
            return False
        if self.script.cut_at_the_end:
            await self._break(1006, "")
        await self.ws.send_json({"type": "Metadata", "duration": self.audio_s})
        await self.ws.close()
        return True

    async def _configure(self, keywords: list[str]) -> None:
        for keyword in keywords:
            phrase = keyword.rsplit(":", 1)[0]
            if phrase in self.script.unboostable:
                warning = {"type": "Warning", "code": "UNBOOSTABLE_PHRASE", "phrase": phrase}
                await self.ws.send_json({**warning, "description": f"cannot spell {phrase}"})
            if keyword in self.script.limited:
                warning = {"type": "Warning", "code": "CHANGED_VALUE", "phrase": phrase}
                await self.ws.send_json({**warning, "description": "counts as less"})
        await self.ws.send_json({"type": "ConfigureSuccess", "request_id": "r"})

    async def _say(self, *, is_final: bool) -> None:
        words = _words(" ".join(self.sentence), self.start_s, self.script.confidence)
        results = _results(words, self.start_s, is_final=is_final)
        if is_final:
            self.sentence, self.start_s = [], self.start_s + results["duration"]
        await self.ws.send_json(results)


def _results(words: list[dict[str, Any]], start_s: float, *, is_final: bool) -> dict[str, Any]:
    text = " ".join(word["word"] for word in words)
    stable = {} if is_final else {"stable_words": max(0, len(words) - 1)}
    return {
        "type": "Results",
        "start": start_s,
        "duration": WORD_S * len(words),
        "is_final": is_final,
        "speech_final": is_final,
        "from_finalize": False,
        "channel": {"alternatives": [{"transcript": text, "confidence": 0.9, "words": words}]},
        **stable,
    }


def _words(text: str, start_s: float, confidence: float = 0.93) -> list[dict[str, Any]]:
    return [
        {
            "word": word,
            "start": start_s + i * WORD_S,
            "end": start_s + (i + 0.9) * WORD_S,
            "confidence": confidence,
        }
        for i, word in enumerate(text.split())
    ]


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
