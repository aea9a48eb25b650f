"""Evidence: the first characters of it in the page, and all of it in files beside the page.

Invariant: what is left out of the page is counted, and what was not reported is not an empty text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from auditor_html.text import clip, shown

__all__ = ["PAGE_CHARACTERS", "Evidence", "Passage", "read_evidence"]

PAGE_CHARACTERS = 300  # of one trial's evidence, in the page
_PAGE_PASSAGES = 12
_NAME_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk or a citation. ``text`` and ``score`` are None where they were not reported."""

    kind: str  # "retrieved" or "cited"
    document: str | None
    text: str | None
    score: str | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one trial's reply reported: retrieved passages, then citations."""

    passages: tuple[Passage, ...]

    def for_page(self) -> dict[str, object]:
        """The part that stands in the page, as its script reads it."""
        budget, listed, left = PAGE_CHARACTERS, [], 0
        for passage in self.passages[:_PAGE_PASSAGES]:
            kept, over = clip(passage.text or "", budget)
            budget, left = budget - len(kept), left + over
            name = None if passage.document is None else clip(passage.document, _NAME_CHARACTERS)[0]
            listed.append([passage.kind, name, None if passage.text is None else kept, over, passage.score])
        rest = self.passages[_PAGE_PASSAGES:]
        left += sum(len(passage.text or "") for passage in rest)
        return {"passages": listed, "left": left, "unlisted": len(rest)}


def read_evidence(text: str) -> Evidence:
    """Evidence as a run recorded it. What has another form is one passage: its text as it stands."""
    try:
        body = json.loads(text)
        passages = (*_passages("retrieved", body["chunks"], "text"), *_passages("cited", body["citations"], "quote"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Evidence((Passage("retrieved", None, shown(text), None),))
    return Evidence(passages)


def _passages(kind: str, listed: list[dict[str, Any]] | None, text: str) -> Iterator[Passage]:
    for item in listed or ():
        yield Passage(kind, _shown(item.get("document")), _shown(item.get(text)), _shown(item.get("score")))


def _shown(value: object) -> str | None:
    return None if value is None else shown(str(value))
