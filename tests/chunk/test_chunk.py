"""Chunks lose nothing, stay within their size and overlap as METHODS §5 says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.chunk import Chunk, chunks

_TEXT = st.text(alphabet=st.sampled_from("ab c\n\n.漢\u202e\x00"), max_size=400)


def _uncovered(text: str, made: list[Chunk]) -> str:
    covered = {i for chunk in made for i in range(chunk.start, chunk.end)}
    return "".join(character for i, character in enumerate(text) if i not in covered)


@settings(max_examples=150, deadline=None)
@given(text=_TEXT, size=st.integers(2, 60), data=st.data())
def test_nothing_is_lost_and_nothing_is_too_long(text: str, size: int, data: st.DataObject) -> None:
    """Only blank text is outside every chunk; bodies fit; each chunk starts and ends after the one before."""
    overlap = data.draw(st.integers(0, size - 1))
    made = chunks(text, "T", size=size, overlap=overlap)
    assert not _uncovered(text, made).strip()
    for chunk in made:
        assert chunk.body == text[chunk.start : chunk.end]
        assert 0 < len(chunk.body) <= size
    for before, after in zip(made, made[1:], strict=False):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap


def test_chunks_end_at_blank_lines_and_repeat_the_end_of_the_one_before() -> None:
    """Paragraphs stay whole where they fit, and the overlap begins with a word."""
    paragraphs = [" ".join(f"w{i}x{j}" for j in range(90)) for i in range(8)]
    made = chunks("\n\n".join(paragraphs), "Page")
    assert len(made) > 1
    for before, after in zip(made, made[1:], strict=False):
        assert before.body.endswith("\n\n")
        assert 200 <= before.end - after.start <= 250
        assert after.body[0] == "w"


def test_title_comes_before_every_body() -> None:
    """Each passage says which page it is from, on top of its 1,500 characters."""
    made = chunks("x" * 4000, "Page title")
    assert [len(chunk.body) for chunk in made] == [1250, 1500, 1500, 500]
    assert all(chunk.text == f"Page title\n\n{chunk.body}" for chunk in made)


def test_blank_and_empty_documents_have_no_chunks() -> None:
    """A document without text makes no passage that could be retrieved."""
    assert chunks("", "T") == []
    assert chunks(" \n\n \n", "T") == []


def test_overlap_must_be_less_than_size() -> None:
    """A chunk that only repeated its predecessor would never end."""
    with pytest.raises(ValueError, match="overlap 10"):
        chunks("a", "T", size=10, overlap=10)


def test_hostile_text_is_cut_in_linear_time() -> None:
    """A megabyte without a break, of breaks alone, or of words ends at once."""
    for text in ("x" * 1_000_000, "\n" * 1_000_000, "\n\n a" * 250_000, "漢 " * 500_000):
        made = chunks(text, "")
        assert len(made) < 2_000
