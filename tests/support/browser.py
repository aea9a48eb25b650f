"""A headless Chromium, driven through its DevTools protocol over a pipe: no port is opened, nothing is installed.

The browser is the one named by ``$CHROME``, else ``/usr/bin/chromium``; tests skip with a reason where there is none.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Browser", "browser_path", "open_browser"]

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def browser_path() -> str:
    """The browser's path; skips the test where there is none."""
    path = os.environ.get("CHROME") or "/usr/bin/chromium"
    found = shutil.which(path)
    if found is None:
        pytest.skip(f"no browser at {path}: set CHROME to a Chromium")
    return found


class Browser:
    """One page of one browser process. ``errors``: what the page threw or refused to load, as it came."""

    def __init__(self, process: subprocess.Popen[bytes], to_browser: int, from_browser: int) -> None:
        self._process, self._to, self._from = process, to_browser, from_browser
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self.requests: list[str] = []

    def attach(self) -> None:
        """Open a page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, timeout_s: float = 30, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result. Raises ``RuntimeError`` on an error or in time."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        _write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout_s
        while True:
            reply = self._receive(end - time.monotonic())
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                result: dict[str, Any] = reply["result"]
                return result
            self._note(reply)

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if timeout_s <= 0 or not select.select([self._from], [], [], timeout_s)[0]:
                raise RuntimeError("the browser did not reply in time")
            part = os.read(self._from, 1 << 20)
            if not part:
                raise RuntimeError(f"the browser ended with code {self._process.poll()}")
            self._buffer += part
        raw, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(raw)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"a dialog opened: {params['message']}")
            self._events.append(event)
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, url: str, *, wait: str = "document.documentElement.dataset.ready === 'true'") -> None:
        """Go to a page and wait until ``wait`` holds in it."""
        self.call("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.href !== 'about:blank' && ({wait})")

    def wait(self, condition: str, timeout_s: float = 20) -> None:
        """Wait until a condition holds in the page."""
        end = time.monotonic() + timeout_s
        while not self.value(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"never came true: {condition}; errors: {self.errors}")
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page, by value."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """Lay the page out in a window of that size, in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key on what has the focus."""
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)
        shared: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code, "code": "Space" if key == " " else key}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write the page as a PNG: what the window shows, or all of it."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page into a PDF."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser with a fresh profile; it is ended by its process id, and its profile deleted."""
    path = browser_path()
    read_command, write_command = os.pipe()
    read_reply, write_reply = os.pipe()
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        # The browser reads commands from descriptor 3 and writes to 4; the shell puts the pipes there.
        script = f'exec "$@" 3<&{read_command} 4>&{write_reply}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", path, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(read_command, write_reply),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": profile},
        )
        os.close(read_command)
        os.close(write_reply)
        try:
            browser = Browser(process, write_command, read_reply)
            browser.attach()
            yield browser
        finally:
            os.close(write_command)
            os.close(read_reply)
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)
