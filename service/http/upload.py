"""A request body on its way to disk, with limits."""

import asyncio
import errno
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from starlette.requests import Request

from earshot.service.errors import BodyTooLarge, StorageFull, UploadStalled


@dataclass(frozen=True)
class UploadLimits:
    """Largest body in bytes, and seconds it may stall."""

    max_bytes: int
    timeout_s: float


_OPEN_FILES = Path("/proc/self/fd")
"""Where Linux has the files that this process holds open, those without a name too."""

LEAST_BYTES_PER_S = 1000
"""A body that comes slower, once it had its time to stall, holds a place others could use."""


FULL_RETRY_S = 10
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def check_length(request: Request, limits: UploadLimits) -> None:
    """Raise BodyTooLarge where the stated length alone is over the limit."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limits.max_bytes:
        raise _too_large(limits)


async def receive_upload(request: Request, file: BinaryIO, limits: UploadLimits) -> str:
    """Write the body to ``file`` and return its SHA-256 as hexadecimal.

    Raises what `body_chunks` raises.
    """
    digest = hashlib.sha256()
    async for chunk in body_chunks(request, limits):
        digest.update(chunk)
        # A write of 64 KiB lands in the page cache: quicker than a hop to another thread.
        file.write(chunk)
    file.flush()
    return digest.hexdigest()


async def body_chunks(request: Request, limits: UploadLimits) -> AsyncIterator[bytes]:
    """Yield the body as it comes.

    Raises:
        BodyTooLarge, UploadStalled: see the limits.
        ClientDisconnect: the client went away.
    """
    count, begun_s = 0, time.monotonic()
    async for chunk in _chunks(request, limits.timeout_s):
        count += len(chunk)
        if count > limits.max_bytes:
            raise _too_large(limits)
        if trickles(count, time.monotonic() - begun_s, limits.timeout_s):
            raise UploadStalled(f"the body comes at less than {LEAST_BYTES_PER_S} bytes a second")
        yield chunk


def trickles(count: int, elapsed_s: float, timeout_s: float) -> bool:
    """Whether ``count`` bytes are too few for the time they took."""
    return count < LEAST_BYTES_PER_S * (elapsed_s - timeout_s)


@contextmanager
def temporary_file() -> Iterator[tuple[Path, BinaryIO]]:
    """Open a file that exists as long as the block, or this process.

    Raises:
        StorageFull: it cannot be made, or what the block writes has no room.
    """
    try:
        with _unnamed_file() as file:
            yield _path_of(file), file
    except OSError as error:  # of the block, or of the last bytes, written when it is closed
        if error.errno not in _NO_ROOM:
            raise
        raise StorageFull("there is no room for the file", FULL_RETRY_S) from error


def _unnamed_file() -> BinaryIO:
    """No name is left behind by a process that is killed, where the system can open it again."""
    if _OPEN_FILES.is_dir():
        return cast(BinaryIO, tempfile.TemporaryFile(prefix="earshot-"))
    return cast(BinaryIO, tempfile.NamedTemporaryFile(prefix="earshot-"))


def _path_of(file: BinaryIO) -> Path:
    return _OPEN_FILES / str(file.fileno()) if _OPEN_FILES.is_dir() else Path(file.name)


async def _chunks(request: Request, timeout_s: float) -> AsyncIterator[bytes]:
    body = request.stream()
    while True:
        try:
            async with asyncio.timeout(timeout_s):
                chunk = await anext(body, None)
        except TimeoutError:
            raise UploadStalled(f"no byte of the body arrived in {timeout_s:g} s") from None
        if chunk is None:
            return
        yield chunk


def _too_large(limits: UploadLimits) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than the {limits.max_bytes} bytes allowed")
