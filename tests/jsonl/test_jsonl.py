"""JSON Lines are read strictly, with line numbers, and no number passes through a float."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import ConfigurationError
from auditor.jsonl import JsonLine, read_json_lines


def read(folder: Path, content: bytes) -> list[JsonLine]:
    """Lines of a file with this content."""
    (folder / "x.jsonl").write_bytes(content)
    return list(read_json_lines(folder / "x.jsonl", shown="x.jsonl", error=ConfigurationError))


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    """Blank lines count and hold nothing."""
    assert read(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"b": 0.1}') == [
        JsonLine(1, {"a": 1}),
        JsonLine(3, {"b": Decimal("0.1")}),
    ]


@pytest.mark.parametrize("line", [b"[]", b"{", b'{"a": Infinity}', b'{"a": 1, "a": 2}', b"[" * 99_999, b"1" * 9_999])
def test_what_is_not_one_object_is_an_error_with_its_line(tmp_path: Path, line: bytes) -> None:
    """Whatever it is, it is one clear line."""
    with pytest.raises(ConfigurationError, match=r"^x\.jsonl:2: not one JSON object: [^\n]+$"):
        read(tmp_path, b"{}\n" + line)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """Missing, or a folder."""
    for name in ("none", "."):
        with pytest.raises(ConfigurationError, match="cannot be read"):
            list(read_json_lines(tmp_path / name, shown=name, error=ConfigurationError))


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=20) | st.integers() | st.none(), max_size=4))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, value: dict[str, object]) -> None:
    """Any object, with characters that end lines elsewhere."""
    folder = tmp_path_factory.mktemp("lines")
    content = json.dumps(value).encode() + b"\n"
    assert read(folder, content) == [JsonLine(1, value)]
