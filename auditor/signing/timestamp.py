"""Asking a timestamp authority (RFC 3161) over HTTP: the one connection that signing ever makes, and only when told to.

Invariant: what comes back is bounded in size and time, and is in canonical form before anything is made of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

import requests
from asn1crypto import algos, core, tsp  # type: ignore[import-untyped] # the package has no types
from pyhanko.sign.timestamps.common_utils import handle_tsp_response

from auditor.errors import CallError, ConfigurationError, Fault, FaultReport
from auditor.signing.cms import canonical_token

__all__ = ["Authority", "http_authority"]

Authority = Callable[[bytes], bytes]  # a signature → a canonical token over it

_TIMEOUT_S: Final = (10.0, 30.0)
_REPLY_BYTES: Final = 2**17
_NONCE_BYTES: Final = 8


def http_authority(url: str, entropy: Callable[[int], bytes]) -> Authority:
    """An authority at ``url``. Raises ``ConfigurationError`` for what is no HTTP address.

    The authority raises ``CallError`` when it is not reached, refuses, or answers with what is no token.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("the address of a timestamp authority begins with http:// or https://")
    place = parts.hostname

    def stamp(signature: bytes) -> bytes:
        nonce = int.from_bytes(b"\x01" + entropy(_NONCE_BYTES - 1), "big")
        reply = _post(url, place, _request(signature, nonce))
        return _token(reply, place, nonce)

    return stamp


def _request(signature: bytes, nonce: int) -> bytes:
    imprint = {
        "hash_algorithm": algos.DigestAlgorithm({"algorithm": "sha256"}),
        "hashed_message": hashlib.sha256(signature).digest(),
    }
    request = {"version": 1, "message_imprint": tsp.MessageImprint(imprint), "cert_req": True}
    der: bytes = tsp.TimeStampReq(request | {"nonce": core.Integer(nonce)}).dump()
    return der


def _post(url: str, place: str, body: bytes) -> bytes:
    headers = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
    try:
        with requests.post(
            url, data=body, headers=headers, timeout=_TIMEOUT_S, allow_redirects=False, stream=True
        ) as reply:
            if reply.status_code != requests.codes.ok:
                _fail(place, Fault.TRANSIENT, f"answered with status {reply.status_code}")
            data = b""
            for chunk in reply.iter_content(8192):
                data += chunk
                if len(data) > _REPLY_BYTES:
                    _fail(place, Fault.CONTRACT, f"sent more than {_REPLY_BYTES} bytes")
            return data
    except requests.RequestException as error:
        raise _failure(place, Fault.TRANSIENT, f"not reached ({type(error).__name__})") from error


def _token(reply: bytes, place: str, nonce: int) -> bytes:
    try:
        response: Any = tsp.TimeStampResp.load(reply, strict=True)
        der: bytes = handle_tsp_response(response, nonce).dump()  # type: ignore[arg-type] # annotated as bytes, is an int
        return canonical_token(der)
    except Exception as error:  # bytes from outside: whatever is wrong with them is the vendor's
        raise _failure(place, Fault.CONTRACT, f"did not send a timestamp: {str(error)[:300]}") from error


def _failure(place: str, fault: Fault, message: str) -> CallError:
    return CallError(FaultReport(fault, message), provider=f"timestamp authority {place}")


def _fail(place: str, fault: Fault, message: str) -> NoReturn:
    raise _failure(place, fault, message)
