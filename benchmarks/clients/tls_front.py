"""TLS in front of a server, for clients that speak nothing else: a proxy's part, in short."""

import asyncio
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.server.server_process import HOST, free_port, server_process

BLOCK = 65536
CERTIFICATE, KEY = "certificate.pem", "key.pem"


@dataclass(frozen=True)
class Front:
    """Where TLS is spoken, and the certificate that a client has to trust."""

    address: str
    certificate: Path


@contextmanager
def tls_front(behind: str, folder: Path) -> Iterator[Front]:
    """Hand all that comes to `HOST:PORT` behind it, by a process of its own, within the block.

    Raises OSError or CalledProcessError where OpenSSL's command is missing or fails.
    """
    certify = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    certify += ["-keyout", KEY, "-out", CERTIFICATE, "-subj", "/CN=localhost"]
    certify += ["-addext", f"subjectAltName=IP:{HOST}"]
    subprocess.run(certify, cwd=folder, check=True, capture_output=True)
    port = free_port()
    command = [sys.executable, str(Path(__file__)), str(port), behind]
    with server_process(command, port, folder):
        yield Front(f"{HOST}:{port}", folder / CERTIFICATE)


async def serve(port: int, behind: str) -> None:
    """Until the process is ended, with key and certificate of the working directory."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    host, _, its_port = behind.rpartition(":")

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection(host, int(its_port))
        await asyncio.gather(_pass(reader, outer), _pass(inner, writer))

    server = await asyncio.start_server(join, HOST, port, ssl=context)
    await server.serve_forever()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while block := await reader.read(BLOCK):
            writer.write(block)
            await writer.drain()
    finally:
        writer.close()


def main() -> None:
    """Serve at a port for what is behind it."""
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))


if __name__ == "__main__":
    main()
