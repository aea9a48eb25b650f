"""A loopback server that stands in for a vendor: it answers by a script and logs every request that it gets."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class AnsweringServer:
    """``log``: (opaque id, attempt) of each request, in order of arrival."""

    url: str
    log: list[tuple[str, int]] = field(default_factory=list)


@contextmanager
def answering_server(answers: Mapping[str, str]) -> Iterator[AnsweringServer]:
    """Serve until the block ends."""
    known = AnsweringServer("")
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                known.log.append((body["id"], body["attempt"]))
            reply = json.dumps({"answer": answers.get(body["text"], "I do not know.")}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, format: str, *args: object) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            return None  # a client that was killed mid-call

    server = Server(("127.0.0.1", 0), Handler)
    known.url = f"http://127.0.0.1:{server.server_address[1]}/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
