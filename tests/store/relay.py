"""A wire to PostgreSQL that can be cut at the moment of COMMIT, held, or laid dead."""

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator
from typing import Literal, Self
from urllib.parse import parse_qs

Cut = Literal["nothing", "commit", "answer"]
_COMMIT = b"commit\0"
_SECONDS = 20.0


class Relay:
    """Between a store and the server's socket. `cut` loses the next COMMIT on its way, or the answer to it."""

    def __init__(self, url: str) -> None:
        self._folder = parse_qs(url.partition("?")[2])["host"][0]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.cut: Cut = "nothing"
        self.is_dead = False  # new connections find nobody
        self.refused = 0
        self.flows = threading.Event()  # cleared: what clients send waits
        self.held = 0
        self.flows.set()
        port = self._listener.getsockname()[1]
        self.url = url.replace(f"host={self._folder}", f"host=127.0.0.1&port={port}&sslmode=disable&gssencmode=disable")
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flows.set()
        self._listener.close()
        for end in self._open:
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed at the end of the test
            while True:
                client, _ = self._listener.accept()
                if self.is_dead:
                    self.refused += 1
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{self._folder}/.s.PGSQL.5432")
                self._open += [client, server]
                threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):  # either end was closed
            for source, data in _arriving(client, server):
                if source is server:
                    client.sendall(data)
                    continue
                self.held += 1
                self.flows.wait(_SECONDS)
                self.held -= 1
                if _COMMIT in data and self.cut != "nothing":
                    self._lose(data, client, server)
                    return
                server.sendall(data)
        client.close()
        server.close()

    def _lose(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        """Only the client's end is closed: the server does not know yet."""
        cut, self.cut = self.cut, "nothing"
        if cut == "answer":
            server.sendall(data)
            assert b"COMMIT" in server.recv(65536)
        client.close()


def _arriving(client: socket.socket, server: socket.socket) -> Iterator[tuple[socket.socket, bytes]]:
    with selectors.DefaultSelector() as selector:
        for end in (client, server):
            selector.register(end, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(_SECONDS):
                source = key.fileobj
                assert isinstance(source, socket.socket)
                data = source.recv(65536)
                if not data:
                    return
                yield source, data
