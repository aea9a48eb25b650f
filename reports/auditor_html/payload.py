"""Data inside the page: JSON, deflated, in base64, so that no text in it can end the element that holds it."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

__all__ = ["content_hash", "pack", "unpack"]


def pack(value: Mapping[str, Any]) -> str:
    """``value`` as the page holds it. Equal values give equal text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def unpack(text: str) -> Any:
    """What ``pack`` packed."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def content_hash(source: str) -> str:
    """The source expression by which a content security policy lets one inline element through."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode('utf-8')).digest()).decode('ascii')}"
