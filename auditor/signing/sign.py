"""Signing: three files go into the PDF, then one certifying signature over all of it that allows no change.

Invariant: nothing is returned that the checks of ``check`` have not accepted first.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Final

from pyhanko.pdf_utils.embed import EmbeddedFileObject, FileSpec, embed_file
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.general import SigningError
from pyhanko.sign.signers.cms_embedder import PdfCMSEmbedder, SigIOSetup, SigMDPSetup, SigObjSetup
from pyhanko.sign.signers.pdf_byterange import SignatureObject

from auditor.errors import SignatureError
from auditor.signing.certificate import name_of
from auditor.signing.cms import DIGEST, assembled, signed_attributes
from auditor.signing.keys import SigningKey
from auditor.signing.timestamp import Authority

__all__ = ["REASON", "THROWAWAY_REASON", "sign_pdf"]

REASON: Final = "States that this report and the files in it are as the signer issued them"
THROWAWAY_REASON: Final = (
    "Signed with a key made in memory for this one report: shows that nothing was changed since, not who signed"
)
_FIELD: Final = "Signature"
_SPARE_BYTES: Final = 256  # tokens and ECDSA signatures of one key differ a little in length


def sign_pdf(
    pdf: bytes, attachments: Mapping[str, bytes], key: SigningKey, now: datetime, authority: Authority | None = None
) -> bytes:
    """``pdf`` with ``attachments`` and a signature: PAdES B-B, or B-T where an authority stamps it.

    :param now: the time that the signature claims. Raises ``SignatureError`` for a file that cannot be signed (it is no
        PDF, or has a signature already), ``CallError`` where the authority does not stamp.
    """
    try:
        writer = IncrementalPdfFileWriter(BytesIO(pdf))
        for name, data in attachments.items():
            embedded = EmbeddedFileObject.from_file_data(writer, data, mime_type="application/json")
            embed_file(writer, FileSpec(name, file_name=name, embedded_data=embedded))
        return _signed(writer, key, now, authority)
    except (PdfError, SigningError) as error:
        raise SignatureError(f"the file cannot be signed: {error}") from error


def _signed(writer: IncrementalPdfFileWriter, key: SigningKey, now: datetime, authority: Authority | None) -> bytes:
    """Signed twice: room is made for the length that a trial has."""
    trial = _message(bytes(32), key, authority)
    placeholder = SignatureObject(
        timestamp=now.astimezone(UTC),
        name=name_of(key.certificates[0]),
        reason=THROWAWAY_REASON if key.throwaway else REASON,
        subfilter=SigSeedSubFilter.PADES,
        bytes_reserved=2 * (len(trial) + _SPARE_BYTES),
    )
    steps = PdfCMSEmbedder(new_field_spec=SigFieldSpec(_FIELD)).write_cms(_FIELD, writer)
    next(steps)
    certifying = SigMDPSetup(md_algorithm=DIGEST, certify=True, docmdp_perms=MDPPerm.NO_CHANGES)
    steps.send(SigObjSetup(sig_placeholder=placeholder, mdp_setup=certifying))
    prepared, output = steps.send(SigIOSetup(md_algorithm=DIGEST))
    steps.send(_message(prepared.document_digest, key, authority))
    signed: bytes = output.getvalue()
    return signed


def _message(document_digest: bytes, key: SigningKey, authority: Authority | None) -> bytes:
    attributes = signed_attributes(document_digest, key.certificates)
    signature = key.sign(attributes.dump())
    token = None if authority is None else authority(signature)
    return assembled(key.certificates, key.certificates[0], attributes, signature, token)
