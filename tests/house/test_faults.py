"""The table of docs/faults.md: each fault to rule out here, the places where its kind can occur, and tests of each."""

from __future__ import annotations

import re

import pytest

from sabotage import names_a_test
from source_tree import REPOSITORY

ITEMS = (1, 2, 3, 4, 8, 10, 11, 17, 25, 27, 28, 29, 31, 32, 47, 49, 50, 51, 54, 57, 58, 62, 65)


def rows() -> dict[int, list[str]]:
    """Cells of the table's rows, by item."""
    page = (REPOSITORY / "docs" / "faults.md").read_text(encoding="utf-8")
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0].isdigit():
            found[int(cells[0])] = cells
    return found


@pytest.mark.parametrize("item", ITEMS)
def test_fault_has_places_and_tests(item: int) -> None:
    """Each item has its kind, the places where the kind can occur, and tests that exist."""
    assert item in rows(), f"docs/faults.md has no row {item}"
    _, kind, places, tests = rows()[item]
    assert kind and places
    named = re.findall(r"`(tests/[^`]+::[^`]+)`", tests)
    assert named, f"item {item} names no test"
    assert not [test for test in named if not names_a_test(test, REPOSITORY)]
