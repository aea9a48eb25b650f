"""``auditor prove``: make the proofs that canaries need."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from auditor.cli.output import columns, say
from auditor.cli.text import visible
from auditor.errors import ExitCode

__all__ = ["prove"]


@click.command()
@click.argument("spec")
@click.option("--builder", default="knowledge-gap", show_default=True, help="Canary builder that proves.")
def prove(spec: str, builder: str) -> int:
    """Prove that the answers of SPEC's canaries are in none of its documents, and write the proofs beside the
    questions.

    A canary that cannot be proven is named with the reasons, keeps no proof, and the exit code is 3. Canaries marked
    as claimed are passed over. Calls no system and no model.
    """
    from auditor.cli.run import resolve_spec
    from auditor.discovery import discover
    from auditor.proving import prove_spec
    from auditor.spec import load_spec

    loaded = load_spec(resolve_spec(spec))
    attempts = prove_spec(loaded, discover(), builder, date=datetime.now(UTC).date().isoformat())
    rows = []
    for attempt in attempts:
        state = f"proven, {attempt.proof.grade.value}" if attempt.proof else "not proven"
        rows += [[state, attempt.question.id, doubt] for doubt in attempt.doubts or ("",)]
    for line in columns([[visible(cell) for cell in row] for row in rows]):
        say(line.rstrip())
    proven = sum(attempt.proof is not None for attempt in attempts)
    say(f"{proven} of {len(attempts)} canaries proven")
    return ExitCode.OK if proven == len(attempts) else ExitCode.CONFIGURATION
