"""The first entries of a run: the protocol with its texts, the run's key, and the code it was begun with.

Invariant: they are one transaction, so a run has its whole protocol or none; and a run that goes on compares before it
writes (DESIGN §3, Runs; §4, rule 9).
"""

from __future__ import annotations

from collections.abc import Mapping

from auditor.canonical import Json
from auditor.code_record import DistributionRecord, code_record, differences
from auditor.errors import ChangedRun, LedgerError
from auditor.freeze import Campaign
from auditor.ledger import Entry, Ledger, text_entry
from auditor.protocol import commit_texts

__all__ = ["begin", "check_code", "protocol_digest"]

RUN_KEY = "run/key"
RUN_DESIGN = "run/design"


def begin(campaign: Campaign, ledger: Ledger) -> bool:
    """Write the protocol and return True, unless this ledger already holds it.

    Raises ``LedgerError`` when it holds another run's.
    """
    if ledger.get("protocol", "0") is not None:
        design = ledger.get("text", RUN_DESIGN)
        if design is None or design.text != campaign.design.digest:
            raise LedgerError("the ledger in this run folder belongs to another design; it was moved or renamed")
        return False
    texts = {key: text_entry(key, text) for key, text in campaign.design.texts.items()}
    skeleton = commit_texts(campaign.design.body, lambda key: texts[key].body_digest)
    own = [text_entry(RUN_KEY, campaign.run_key.hex()), text_entry(RUN_DESIGN, campaign.design.digest)]
    body: dict[str, Json] = {
        **(skeleton if isinstance(skeleton, Mapping) else {}),
        "texts": {"key": own[0].body_digest, "design": own[1].body_digest},
    }
    code = Entry("code", "0", _code_json(code_record(campaign.used)))
    ledger.append_wait([*texts.values(), *own, Entry("protocol", "0", body), code])
    return True


def protocol_digest(ledger: Ledger) -> str:
    """The published digest: that of the skeleton."""
    row = ledger.get("protocol", "0")
    if row is None:
        raise LedgerError("the ledger holds no protocol")
    return str(row.body_digest)


def check_code(campaign: Campaign, ledger: Ledger, *, accept: bool) -> None:
    """Compare the installed code with what the run last ran with; raises ``ChangedRun`` that names each difference.

    :param accept: record the difference as accepted instead.
    """
    rows = [*ledger.rows("code"), *ledger.rows("accepted")]
    before = _code_record(max(rows, key=lambda row: int(row.sequence)).body or {})
    now = code_record(campaign.used)
    changes = differences(before, now)
    if not changes:
        return
    if not accept:
        listed = "; ".join(changes)
        raise ChangedRun(
            f"this run was begun with other code: {listed}. --accept-version goes on and records it, --new asks anew"
        )
    ledger.append_wait([Entry("accepted", str(len(rows)), _code_json(now))])


def _code_json(record: Mapping[str, DistributionRecord]) -> dict[str, Json]:
    return {name: {"version": item.version, "digest": item.digest} for name, item in record.items()}


def _code_record(body: Mapping[str, Json]) -> dict[str, DistributionRecord]:
    found = {}
    for name, item in body.items():
        if isinstance(item, Mapping):
            digest = item["digest"]
            found[name] = DistributionRecord(str(item["version"]), None if digest is None else str(digest))
    return found
