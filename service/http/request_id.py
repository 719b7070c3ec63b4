"""Names of requests."""

import uuid


def new_request_id() -> str:
    """Return an id for one request, told to the client and written to the log."""
    return str(uuid.uuid4())
