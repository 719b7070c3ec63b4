"""The seam between the gateway and a wire protocol: all that the one knows of the other.

A protocol is a folder such as `deepgram/` with a `dialect.py`; `gateway/dialects.py` names them,
and besides them the protocols of clients that ask for no path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from earshot.service.http.refusals import Refusal


@dataclass(frozen=True)
class Dialect:
    """A wire protocol that the server speaks.

    paths: its own, with all that lies below them; errors there have its shape.
    routers: its routes.
    readable_headers: of its answers, that pages elsewhere may read.
    refuse: gives a refusal its shape; the answer has the refusal's headers too.
    models: what it adds to the JSON object that GET /v1/models answers with.
    """

    paths: Sequence[str]
    routers: Sequence[APIRouter]
    readable_headers: Sequence[str]
    refuse: Callable[[Refusal], Response]
    models: Callable[[Request], Mapping[str, object]]

    def owns(self, path: str) -> bool:
        """Whether errors on a path are its to word."""
        return any(path == own or path.startswith(f"{own}/") for own in self.paths)


def dialect_of(path: str, dialects: Sequence[Dialect]) -> Dialect:
    """The one whose path it is; the first for paths that are nobody's."""
    return next((each for each in dialects if each.owns(path)), dialects[0])


def refused(connection: HTTPConnection, refusal: Refusal) -> Response:
    """The answer to a request or handshake, in the shape of whoever owns its path."""
    return dialect_of(connection.scope["path"], connection.app.state.dialects).refuse(refusal)
