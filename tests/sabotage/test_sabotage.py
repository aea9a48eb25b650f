"""Each wrong behaviour of the sabotage files is noticed by the test that it names: the tests can fail."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sabotage import Copy, Sabotage, load, problems
from source_tree import REPOSITORY

SABOTAGES = load(Path(__file__).parent)
# Rules of DESIGN §4 that have code. A rule joins when its feature does: 7 (knowledge bases) needs a vendor.
_RULES_WITH_CODE = {1, 2, 3, 4, 5, 6, 8, 9, 10, 11}


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """One copy of the tree for all sabotages of a process; each puts right again what it changed."""
    return Copy(REPOSITORY, tmp_path_factory.mktemp("tree"))


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda s: s.id)
def test_sabotage_is_well_formed(sabotage: Sabotage) -> None:
    """Its text occurs exactly once, its test exists, its rule names a document."""
    assert problems(sabotage, REPOSITORY) == []


def test_names_are_unique() -> None:
    """A sabotage is reported by its name, so no two share one."""
    assert [name for name, count in Counter(s.id for s in SABOTAGES).items() if count > 1] == []


def test_every_rule_of_validity_is_sabotaged() -> None:
    """Each rule of DESIGN §4 that has code is broken by at least one sabotage; there are at least twelve in all."""
    named = [
        m[1] for s in SABOTAGES for m in re.finditer(r"DESIGN §?4[ .,]*(?:rules? )?(\d+(?:(?:, | and )\d+)*)", s.rule)
    ]
    numbers = {int(number) for group in named for number in re.findall(r"\d+", group)}
    assert _RULES_WITH_CODE <= numbers
    assert len(SABOTAGES) >= 12


@pytest.mark.slow
def test_copy_is_what_is_imported(copy: Copy) -> None:
    """A child process imports core, plugins and test helpers from the copy, not from the installed tree."""
    modules = "auditor, auditor_local, source_tree"
    code = f"import {modules}; print(*(module.__file__ for module in ({modules})))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(copy.environment), check=True, cwd="/"
    )
    assert all(path.startswith(str(copy.folder)) for path in done.stdout.split())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_named_tests_pass_without_sabotage(copy: Copy) -> None:
    """In the untouched copy every named test runs and passes; a skipped one could not notice anything."""
    named = sorted({sabotage.test for sabotage in SABOTAGES})
    outcomes = copy.run(named, timeout_s=800)
    wrong = {test: said for test in named if "passed" not in (said := outcomes.of(test)) or "failed" in said}
    assert outcomes.exit_code == 0 and not wrong, f"{wrong}\n{outcomes.output[-3000:]}"


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda s: s.id)
def test_sabotage_is_noticed(copy: Copy, sabotage: Sabotage) -> None:
    """With the wrong behaviour in place the named test fails: itself, not at import and not in a fixture."""
    assert problems(sabotage, copy.folder) == []
    with copy.sabotaged(sabotage):
        outcomes = copy.run([sabotage.test])
    said = outcomes.of(sabotage.test)
    assert outcomes.exit_code == 1 and "failed" in said, (
        f"{sabotage.test} did not notice {sabotage.name} ({sabotage.rule}): exit code {outcomes.exit_code}, {said}\n"
        f"{outcomes.output[-3000:]}"
    )
