"""One id for each request: told to the client, and in every line of its log."""

import uuid

from starlette.types import Scope


def new_request_id() -> str:
    """Make an id."""
    return str(uuid.uuid4())


def request_id_of(scope: Scope) -> str:
    """The id of a request or socket, made when it is first asked for."""
    request_id: str = scope.setdefault("state", {}).setdefault("request_id", new_request_id())
    return request_id
