"""The structure of a signed file: one certifying signature that allows no change, and the attached files.

Invariant: reads only files whose bytes are under a signature that holds; whatever their signer made of them, the
outcome is a value or ``SignatureError``, in bounded memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final, TypeVar

from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.fields import MDPPerm, enumerate_sig_fields
from pyhanko.sign.validation.pdf_embedded import EmbeddedPdfSignature
from pyhanko.sign.validation.status import SignatureCoverageLevel

from auditor.errors import AuditorError, SignatureError
from auditor.signing.envelope import Envelope

__all__ = ["SUB_FILTER", "Document", "open_document"]

SUB_FILTER: Final = "/ETSI.CAdES.detached"
_MAX_ATTACHMENTS: Final = 16

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Document:
    """What the signature dictionary states, and the attached files by name. ``reason`` is the signer's own word."""

    claimed: datetime
    reason: str
    attachments: Mapping[str, bytes]


def open_document(data: bytes, envelope: Envelope, limits: Mapping[str, int]) -> Document:
    """The structure of ``data``, whose bytes ``envelope`` has split.

    :param limits: most bytes of each attachment that is expected, by name; any other name is refused.
    Raises ``SignatureError`` unless the file holds exactly one signature, the one in ``envelope``, certifying, with
    DocMDP "no changes", over the entire file.
    """
    return _guarded(lambda: _open_document(data, envelope, limits))


def _guarded(read: Callable[[], Value]) -> Value:
    try:
        return read()
    except AuditorError:
        raise
    except Exception as error:  # a stranger's file may break the parser in any way
        raise SignatureError(f"the file cannot be read as a PDF ({type(error).__name__})") from error


def _open_document(data: bytes, envelope: Envelope, limits: Mapping[str, int]) -> Document:
    reader = PdfFileReader(BytesIO(data))
    if reader.encrypted:
        raise SignatureError("the file is encrypted")
    signature = _only_signature(reader)
    _check_signature(signature, envelope)
    _check_certification(reader, signature)
    reason = _item(signature.sig_object, "/Reason", "")
    return Document(_claimed_time(signature), str(reason)[:500], _attachments(reader, limits))


def _item(holder: generic.DictionaryObject, key: str, default: Any) -> Any:
    """An entry, looked up where it is only referred to (``get`` would return the reference)."""
    return holder[key] if key in holder else default


def _only_signature(reader: PdfFileReader) -> EmbeddedPdfSignature:
    fields = list(enumerate_sig_fields(reader, filled_status=None))
    if len(fields) != 1:
        raise SignatureError(f"there are {len(fields)} signature fields in the file, not one")
    name, value, field = fields[0]
    if value is None:
        raise SignatureError("the signature field is empty")
    return EmbeddedPdfSignature(reader, field, name)


def _check_signature(signature: EmbeddedPdfSignature, envelope: Envelope) -> None:
    if tuple(int(number) for number in signature.byte_range) != envelope.byte_range:
        raise SignatureError("the signature field states another range than the signature over the file")
    if signature.pkcs7_content.hex().upper().encode("ascii") != envelope.contents:
        raise SignatureError("the signature field holds another signature than the one over the file")
    if signature.evaluate_signature_coverage() is not SignatureCoverageLevel.ENTIRE_FILE:
        raise SignatureError("the signature does not cover the entire file")
    stated = (signature.sig_object_type, _item(signature.sig_object, "/SubFilter", None))
    if stated != ("/Sig", SUB_FILTER):
        raise SignatureError("the signature is not of the kind that a report is signed with")


def _check_certification(reader: PdfFileReader, signature: EmbeddedPdfSignature) -> None:
    references = _item(signature.sig_object, "/Reference", ())
    permissions = _item(reader.root, "/Perms", {})
    if len(references) != 1 or signature.docmdp_level is not MDPPerm.NO_CHANGES:
        raise SignatureError("the signature does not forbid all changes (DocMDP)")
    certified = permissions.raw_get("/DocMDP") if set(permissions) == {"/DocMDP"} else None
    if certified != signature.sig_field.raw_get("/V"):
        raise SignatureError("the signature does not certify the file")


def _claimed_time(signature: EmbeddedPdfSignature) -> datetime:
    """What the signer's clock said (``/M``): a claim, unless a timestamp stands beside it."""
    claimed = signature.self_reported_timestamp
    if claimed is None or claimed.tzinfo is None:
        raise SignatureError("the signature states no time")
    return claimed.astimezone(UTC)


def _attachments(reader: PdfFileReader, limits: Mapping[str, int]) -> dict[str, bytes]:
    tree = _item(_item(reader.root, "/Names", {}), "/EmbeddedFiles", {})
    names = _item(tree, "/Names", ())
    if "/Kids" in tree:
        raise SignatureError("the attachments are listed in a way that a report does not use")
    if len(names) > 2 * _MAX_ATTACHMENTS:
        raise SignatureError(f"there are {len(names) // 2} attachments in the file")
    found: dict[str, bytes] = {}
    for number in range(0, len(names), 2):
        name, entry = str(names[number]), names[number + 1]
        if name in found or name not in limits or {str(entry["/F"]), str(_item(entry, "/UF", name))} != {name}:
            raise SignatureError(f"there is an attachment that does not belong to a report ({name[:80]!r})")
        found[name] = _inflated(entry["/EF"]["/F"], limits[name], name)
    return found


def _inflated(stream: generic.StreamObject, limit: int, name: str) -> bytes:
    """The bytes of an attached file, of which no more than ``limit`` ever stand in memory."""
    if _item(stream, "/Filter", None) != "/FlateDecode" or "/DecodeParms" in stream:
        raise SignatureError(f"the attachment {name} is packed in an unknown way")
    inflater = zlib.decompressobj()
    data = inflater.decompress(stream.encoded_data, limit + 1)
    if len(data) > limit:
        raise SignatureError(f"the attachment {name} is larger than {limit} bytes")
    if not inflater.eof:
        raise SignatureError(f"the attachment {name} is cut off")
    return data
