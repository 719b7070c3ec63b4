"""Which web pages may connect (cross-site WebSocket hijacking is not stopped by CORS)."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from earshot.service.errors import OriginRefused


def check_origin(headers: Headers, allowed: Collection[str]) -> None:
    """Let pages of this host and the allowed origins pass, and clients without an Origin header.

    Raises:
        OriginRefused: the request comes from a page elsewhere.
    """
    origin = headers.get("origin")
    if origin is None or "*" in allowed or origin in allowed:
        return
    if _host_of(origin) != headers.get("host", "").lower():
        raise OriginRefused(f"pages of {origin} may not connect; see the setting allowed_origins")


def _host_of(origin: str) -> str | None:
    """Return host and port, None where the origin is no address ("http://[")."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None
