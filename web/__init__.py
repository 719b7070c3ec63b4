"""The page: static files without a build step, found by :func:`web_root`.

The page knows only the protocol (docs/protocol.md); this package knows nothing at all and exists so
that the files travel in the wheel.
"""

from pathlib import Path


def web_root() -> Path:
    """Return the folder that holds ``index.html``, its modules and ``samples/``."""
    return Path(__file__).resolve().parent
