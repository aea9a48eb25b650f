"""Paths are the same names on every system and under every locale."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.path import document_name, local_path, read_bytes, shown_path


@pytest.mark.parametrize(
    "path", ["corpus/a.txt", "./corpus/a.txt", ".\\corpus\\a.txt", "corpus//a.txt", "/corpus/a.txt"]
)
def test_one_document_has_one_name(path: str) -> None:
    r"""``.\corpus\a.txt`` and ``./corpus/a.txt`` alike (FAULTS 62)."""
    assert document_name(path) == "corpus/a.txt"


@given(st.text(alphabet="ab./\\é\u0301漢", max_size=30))
def test_names_are_settled(path: str) -> None:
    """A name is its own name, in NFC, without empty or dot parts."""
    name = document_name(path)
    assert document_name(name) == name == unicodedata.normalize("NFC", name)
    assert not {"", "."} & set(name.split("/")) or name == ""


def test_a_backslash_that_is_part_of_a_name_is_left_alone(tmp_path: Path) -> None:
    """What exists as written is meant as written."""
    (tmp_path / "a\\b").write_text("x", "utf-8")
    assert local_path(Path("a\\b"), tmp_path) == tmp_path / "a\\b"
    assert local_path(Path("c\\d"), tmp_path) == tmp_path / "c" / "d"


def test_a_name_that_no_file_can_have_is_not_found() -> None:
    """A NUL in a path is no crash."""
    with pytest.raises(FileNotFoundError):
        read_bytes(Path("a\x00b"))


def test_messages_show_paths_from_the_spec(tmp_path: Path) -> None:
    """Relative below the spec's folder, whole elsewhere."""
    assert shown_path(tmp_path / "a" / "é.txt", tmp_path) == "a/é.txt"
    assert shown_path(Path("/elsewhere/x"), tmp_path) == "/elsewhere/x"
