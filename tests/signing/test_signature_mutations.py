"""A signed report with anything changed does not verify (DESIGN §5): bits, bytes, ends, updates, signatures, files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

import pytest
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers.cms_embedder import PdfCMSEmbedder, SigIOSetup, SigObjSetup
from pyhanko.sign.signers.pdf_byterange import SignatureObject

from auditor.errors import ExitCode, SignatureError
from auditor.ledger import CheckState
from auditor.signing.check import check_report, read_report
from auditor.signing.cms import assembled, signed_attributes
from auditor.signing.envelope import open_envelope
from auditor.signing.sign import sign_pdf
from signing_kit import KINDS, NOW, Signed, identity, small_pdf

HEX = b"0123456789ABCDEF"


def passing(data: bytes, changes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of ``(position, new value)``, each applied alone, those that still verify."""
    found = []
    changed = bytearray(data)
    for place, value in changes:
        before, changed[place] = changed[place], value
        if before != value:
            try:
                read_report(bytes(changed))
            except SignatureError:
                pass
            else:
                found.append((place, value))
        changed[place] = before
    return found


def bits(data: bytes, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Every bit of every place."""
    return ((place, data[place] ^ (1 << bit)) for place in places for bit in range(8))


def gap(data: bytes) -> range:
    """Places of ``/Contents``, its angle brackets included."""
    _, before, after, _ = open_envelope(data).byte_range
    return range(before, after)


def test_unchanged_verifies(signed_reports: Mapping[str, Signed]) -> None:
    """What is changed below verifies as it is: the tests can fail."""
    for report in signed_reports.values():
        assert read_report(report.data)


@pytest.mark.parametrize("kind", KINDS)
def test_sample_of_bits_in_contents(kind: str, signed_reports: Mapping[str, Signed]) -> None:
    """Bits of every 127th hex digit: signature, certificates, attributes, token and padding."""
    data = signed_reports[kind].data
    assert not passing(data, bits(data, gap(data)[::127]))


@pytest.mark.parametrize("kind", KINDS)
def test_sample_of_bits_elsewhere(kind: str, signed_reports: Mapping[str, Signed]) -> None:
    """Bits of 20 bytes drawn outside ``/Contents``, and of those on both sides of it."""
    data = signed_reports[kind].data
    inside = gap(data)
    drawn = random.Random(7).sample([n for n in range(len(data)) if n not in inside], 20)  # noqa: S311 - a sample
    assert not passing(data, bits(data, [*drawn, inside[0] - 1, inside[-1] + 1, 0, len(data) - 1]))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_of_contents(kind: str, part: int, signed_reports: Mapping[str, Signed]) -> None:
    """Every bit of every byte of ``/Contents``, and of one key alone every other hex digit too."""
    data = signed_reports[kind].data
    places = gap(data)[part::8]
    assert not passing(data, bits(data, places))
    if kind == "alone":
        assert not passing(data, ((place, digit) for place in places for digit in HEX))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_bytes_elsewhere(kind: str, signed_reports: Mapping[str, Signed]) -> None:
    """10,000 changes drawn over the rest of the file: half of them one bit, half any other byte."""
    data = signed_reports[kind].data
    inside = gap(data)
    places = [n for n in range(len(data)) if n not in inside]
    draw = random.Random(11)  # noqa: S311 - a sample
    changes = []
    for number in range(10_000):
        place = draw.choice(places)
        other = data[place] ^ (1 << draw.randrange(8)) if number % 2 else (data[place] + draw.randrange(1, 256)) % 256
        changes.append((place, other))
    assert not passing(data, changes)


@pytest.mark.parametrize("tail", [b"\n", b" ", b"\0", b"%%EOF\n", b"junk" * 100])
def test_appended_bytes(tail: bytes, signed: Signed) -> None:
    """Not one byte may follow."""
    data = signed.data
    with pytest.raises(SignatureError, match="first byte to its last"):
        read_report(data + tail)


@pytest.mark.parametrize("bytes_cut", [1, 6, 500])
def test_cut_file(bytes_cut: int, signed: Signed) -> None:
    """Nor may one be missing."""
    data = signed.data
    with pytest.raises(SignatureError):
        read_report(data[:-bytes_cut])


def test_prepended_bytes(signed: Signed) -> None:
    """PDF readers look for the header in the first kilobyte; a file that begins otherwise fails here."""
    data = signed.data
    with pytest.raises(SignatureError):
        read_report(b"\n" + data)


def test_incremental_update(signed: Signed) -> None:
    """An update after the signature, as an editor makes it, that leaves every signed byte in place."""
    data = signed.data
    writer = IncrementalPdfFileWriter(BytesIO(data))
    writer.root["/Note"] = generic.pdf_string("changed")
    writer.update_root()  # type: ignore[no-untyped-call] # pyHanko leaves it untyped
    output = BytesIO()
    writer.write(output)  # type: ignore[no-untyped-call] # pyHanko leaves it untyped
    assert output.getvalue().startswith(data)
    with pytest.raises(SignatureError, match="first byte to its last"):
        read_report(output.getvalue())


def second_signature(data: bytes) -> bytes:
    """The file with a second signature of our own form over all of it, not certifying."""
    signer = identity("Second", number=2)
    writer = IncrementalPdfFileWriter(BytesIO(data))
    steps = PdfCMSEmbedder(new_field_spec=SigFieldSpec("Second")).write_cms("Second", writer)
    next(steps)
    placeholder = SignatureObject(timestamp=NOW, subfilter=SigSeedSubFilter.PADES, bytes_reserved=8000)
    steps.send(SigObjSetup(sig_placeholder=placeholder))
    prepared, output = steps.send(SigIOSetup(md_algorithm="sha256"))
    attributes = signed_attributes(prepared.document_digest, signer.certificates)
    message = assembled(signer.certificates, signer.certificate, attributes, signer.key().sign(attributes.dump()))
    steps.send(message)
    made: bytes = output.getvalue()
    return made


def test_second_signature(signed: Signed) -> None:
    """A second signature that covers the whole file does not take the place of the one."""
    data = signed.data
    with pytest.raises(SignatureError, match="2 signature fields"):
        read_report(second_signature(data))


def test_lower_case_and_other_padding(signed: Signed) -> None:
    """The same signature written in another way is another file."""
    data = signed.data
    inside = gap(data)
    lower = data[: inside[0]] + data[inside[0] : inside[-1]].lower() + data[inside[-1] :]
    assert lower != data
    with pytest.raises(SignatureError, match="upper-case"):
        read_report(lower)
    with pytest.raises(SignatureError, match="beside the signature"):
        read_report(data[: inside[-1] - 2] + b"01" + data[inside[-1] :])


def test_signature_of_another_file(attached: Mapping[str, bytes]) -> None:
    """A signature taken from another report of the same key does not hold over this one."""
    one, two = (sign_pdf(small_pdf(text), attached, identity("Signer").key(), NOW) for text in ("one", "two"))
    first, second = gap(one), gap(two)
    assert len(first) == len(second)
    moved = one[: first[0]] + two[second[0] : second[-1] + 1] + one[first[-1] + 1 :]
    with pytest.raises(SignatureError, match="changed after it was signed"):
        read_report(moved)


def test_swapped_attachment(attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]) -> None:
    """Findings of another protocol, signed anew: the attachments' line says that they do not belong together."""
    protocol = attached["protocol.json"].replace(b'"seed":7', b'"seed":8')
    assert protocol != attached["protocol.json"]
    swapped = {**attached, "protocol.json": protocol}
    report = check_report(file_of(sign_pdf(small_pdf(), swapped, identity("Signer").key(), NOW)))
    lines = {check.name: check for check in report.checks}
    assert lines["signature"].state is CheckState.PASSED
    assert lines["attachments"].state is CheckState.FAILED
    assert "another protocol" in lines["attachments"].detail
    assert report.exit_code is ExitCode.TAMPERED


@pytest.mark.parametrize("count", [0, 2, 4])
def test_attachments_are_exactly_three(count: int, attached: Mapping[str, bytes]) -> None:
    """One too few, none, or one too many."""
    names = [*attached, "more.json"][:count]
    files = {name: attached.get(name, b"{}") for name in names}
    with pytest.raises(SignatureError, match="carries|does not belong"):
        read_report(sign_pdf(small_pdf(), files, identity("Signer").key(), NOW))
