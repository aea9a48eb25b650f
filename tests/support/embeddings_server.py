"""A loopback server that speaks the embeddings API: it answers as it is told and logs every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"


def letters(body: Mapping[str, Any]) -> dict[str, Any]:
    """A reply with counts of letters and digits, one vector a text."""
    rows = [[text.lower().count(sign) for sign in _SIGNS] for text in body["input"]]
    return {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}


@dataclass
class Served:
    """A loopback server. ``asked``: (path, Authorization, body) of each request."""

    url: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    reply: Callable[[Mapping[str, Any]], Any] = lambda body: {"data": []}
    asked: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)


@contextmanager
def serving(**settings: Any) -> Iterator[Served]:
    """Serve until the block ends."""
    served = Served(**settings)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.asked.append((self.path, self.headers.get("Authorization"), body))
            made = served.reply(body)
            data = made if isinstance(made, bytes) else json.dumps(made).encode()
            self.send_response(served.status)
            for name, value in served.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
