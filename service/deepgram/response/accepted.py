"""A handshake that is taken, as Deepgram's clients expect it."""

from starlette.websockets import WebSocket

_AUTH_SUBPROTOCOLS = ("token", "bearer")


async def accept(socket: WebSocket, request_id: str) -> None:
    """Echo an offered authentication subprotocol: browsers insist. Its key is not looked at."""
    offered = socket.scope.get("subprotocols", [])
    chosen = next((name for name in offered if name.lower() in _AUTH_SUBPROTOCOLS), None)
    await socket.accept(chosen, [(b"dg-request-id", request_id.encode())])
