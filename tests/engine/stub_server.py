"""A loopback vendor for the kill tests: answers each request and keeps a log of which it saw."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class StubServer(ThreadingHTTPServer):
    """``log`` holds the path of each request, in order of arrival."""

    daemon_threads = True

    def __init__(self) -> None:
        self.log: list[str] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: StubServer

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.log.append(self.path[1:])
        body = b"reply to " + self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[StubServer]:
    """A server on a free port."""
    server = StubServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
