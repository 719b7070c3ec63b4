"""TLS in front of a server that has none."""

import socket
import ssl
import threading
from pathlib import Path

from benchmarks.clients.tls_front import tls_front


def test_what_a_client_says_by_tls_is_answered_from_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(connection.recv(100).upper())

        thread = threading.Thread(target=answer)
        thread.start()
        with tls_front(f"127.0.0.1:{server.getsockname()[1]}", tmp_path) as front:
            context = ssl.create_default_context(cafile=str(front.certificate))
            host, port = front.address.split(":")
            plain = socket.create_connection((host, int(port)), 30)
            with context.wrap_socket(plain, server_hostname=host) as client:
                client.sendall(b"hello")
                assert client.recv(100) == b"HELLO"
        thread.join()
