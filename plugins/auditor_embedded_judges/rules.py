"""Stance by conservative phrase rules (METHODS §1); the phrases are data (``stance_rules.yaml``).

A text is cut into clauses; each clause declines, denies, is courtesy, background, or content. A denial decides. A text
that only answers is an answer; one that only declines is an abstention; one that does both is read against what kind
of answer the question wants, and is unsure where that does not settle it.
Invariant: quoted words are not the speaker's own, so a title such as “I Don't Know” declines nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from typing import ClassVar

from auditor.label import LabelInput
from auditor.normalize import STOP_WORDS, fold, sentences, tokens, words
from auditor.quantity import read_values
from auditor.scrub import CUT_CHARACTERS, strip_thinking
from auditor.stance import Stance
from auditor.unit import unit_of
from auditor_embedded_judges.patterns import PatternSet, read_pattern
from auditor_embedded_judges.reply import EmbeddedLabeller

__all__ = ["StanceRules"]


class _Does(StrEnum):
    """What a clause does. In order of precedence; ``abstain`` beats ``deny`` where it comes first in the clause."""

    ABSTAIN = "abstain"
    DENY = "deny"
    UNSURE = "unsure"
    FILLER = "filler"
    META = "meta"
    CONTENT = "content"


class _Wanted(StrEnum):
    """What kind of thing an answer to the question would hold."""

    NUMBER = "number"
    NAME = "name"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: as written, and as the words that patterns see."""

    text: str
    said: tuple[str, ...]
    does: _Does
    offers: bool


_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^“”\n]{1,300}”|«[^«»\n]{1,300}»|(?<![*\w])\*[^*\n]{1,300}\*(?![*\w])")
_BOLD = re.compile(r"\*\*|__|[`#>]+")
_CLAUSE = re.compile(
    r"\s*[;—]\s*|,?\s(?=(?:but|however|although|though|yet|nevertheless|still,)\s)|,\s(?=and\s(?:i|it)\s)"
)
_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\bcan(?:'t|not|t)\b", "can not"), (r"\bwon't\b", "will not"), (r"\bshan't\b", "shall not"),
        (r"\b(do|does|did|could|would|should|is|are|was|were|has|have|had|must|need)n'?t\b", r"\1 not"),
        (r"'m\b", " am"), (r"\bim\b(?=\s(?:not|sorry|un))", "i am"), (r"'re\b", " are"), (r"'ve\b", " have"),
        (r"'ll\b", " will"), (r"\b(it|there|that|he|she|what)'s\b", r"\1 is"), (r"'d\b", " would"),
    )
)  # fmt: skip
_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|old|long|far|tall|high|deep|large|big|fast|often|wide|heavy|hot|cold|thick|strong|late"
    r"|early)\b"
    r"|\b(?:when|year|date|day|month|percentage|number|rate|price|cost|population|height|length|depth|distance|temperature|age|score|amount|total)\b"
)
_NAME_ASKED = re.compile(r"\b(?:who|whom|whose|where|which|what)\b")
_POINTING = frozenset("it he she they this that these those its his her their".split())
_REPORTS = frozenset("mention say state describe discuss cover list give contain include note report".split())
_SHORT = 6
_PLACEHOLDER = "quotation"


@lru_cache(maxsize=1)
def _rules() -> dict[str, PatternSet]:
    """The pattern sets of the data file, by name."""
    import yaml

    text = (resources.files(__package__ or "") / "stance_rules.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    lists = {name: [str(word) for word in listed] for name, listed in data["lists"].items()}
    names = [name for name in data if name not in ("version", "lists")]
    return {name: PatternSet([read_pattern(line, lists) for line in data[name]]) for name in names}


class StanceRules(EmbeddedLabeller):
    """See the module."""

    method: ClassVar[str] = "rules"
    field: ClassVar[str] = "stance"

    def decide(self, given: LabelInput) -> tuple[str, str]:
        """The stance of the candidate."""
        if given.question is None or given.candidate is None:
            raise ValueError("a stance classifier needs question and candidate")
        stance, reason = _stance(given.question[:CUT_CHARACTERS], given.candidate[:CUT_CHARACTERS])
        return stance.value, reason


def _stance(question: str, candidate: str) -> tuple[Stance, str]:
    text = strip_thinking(candidate)[0]
    if not words(text):
        return Stance.UNSURE, "no words"
    clauses = _clauses(text, question)
    kinds = {clause.does for clause in clauses}
    if _Does.DENY in kinds:
        return Stance.DENY, "says that the thing does not exist or is not part of the product"
    if _Does.ABSTAIN not in kinds:
        if _Does.UNSURE in kinds and not _offered(clauses, question):
            return Stance.UNSURE, "says that the answer is unknown"
        if kinds == {_Does.FILLER}:
            return Stance.UNSURE, "nothing but courtesy"
        if _may_decline(clauses, question):
            return Stance.UNSURE, "may decline in words that no rule knows"
        return Stance.ANSWER, "does not decline"
    content = [clause for clause in clauses if clause.does is _Does.CONTENT]
    if not content:
        return Stance.ABSTAIN, "declines"
    if _offered(clauses, question):
        return Stance.ANSWER, "declines and answers all the same"
    wanted = _wanted(question)
    if wanted is not _Wanted.ANY and not any(_holds(clause, wanted, question) for clause in content):
        return Stance.ABSTAIN, "declines, and the rest holds no answer"
    return Stance.UNSURE, "declines, and says more that may be an answer"


_SOURCES = frozenset(
    "i we document documents context source sources passage passages material materials excerpt excerpts text texts "
    "information documentation corpus knowledge".split()
)
_REFUSES = frozenset("not no nothing none nowhere never unable without lack lacks cannot".split())


def _may_decline(clauses: Sequence[_Clause], question: str) -> bool:
    """Whether a clause that is about speaker or documents is in the negative, or one that begins with ``no`` names
    them, and nothing of the wanted kind is put forward.
    """
    wanted = _wanted(question)
    if wanted is _Wanted.ANY or any(_holds(clause, wanted, question) for clause in clauses):
        return False
    return any(
        _REFUSES.intersection(clause.said)
        and _SOURCES.intersection(clause.said if clause.said[0] in _REFUSES else clause.said[:4])
        for clause in clauses
    )


def _clauses(text: str, question: str) -> list[_Clause]:
    found: list[_Clause] = []
    for sentence in sentences(_BOLD.sub("", text)):
        bare = _QUOTED.sub(f" {_PLACEHOLDER} ", sentence)
        if set(words(bare)) <= {_PLACEHOLDER}:  # nothing but a quotation: the speaker's own words after all
            bare = sentence
        for piece in _CLAUSE.split(_written_out(bare)):
            said = words(piece)
            if said:
                found.append(_Clause(piece, said, _does(said, question), _rules()["offer"].find(said) is not None))
    return found


def _written_out(text: str) -> str:
    """``text`` with contractions in full; case is kept where none is found."""
    folded = text.replace("’", "'").replace("‘", "'")
    for pattern, full in _CONTRACTIONS:
        folded = pattern.sub(full, folded)
    return folded


def _does(said: tuple[str, ...], question: str) -> _Does:
    rules = _rules()
    abstains, denies = rules["abstain"].find(said), rules["deny"].find(said)
    if abstains is not None and (denies is None or abstains[0] <= denies[0]):
        return _Does.ABSTAIN
    if denies is not None or _denies_by_name(said, question):
        return _Does.DENY
    for kind in (_Does.UNSURE, _Does.FILLER, _Does.META):
        if rules[kind.value].find(said) is not None:
            return kind
    return _Does.CONTENT if any(word not in STOP_WORDS for word in said) else _Does.FILLER


_NO_THING = re.compile(
    r"\bthere (?:is|are|was|were) (?:currently |simply |actually )?(?:no|not an?|not any)((?: \S{1,40}){1,8})"
)


_HAS_NO = re.compile(r"^(.{0,200}?)\b(?:has|have|had|offers|includes|contains|features) no((?: \S{1,40}){1,6})")
_NO_PART = re.compile(r"^(.{0,200}?) (?:is|are|was|were) not (?:a |any )?part of((?: \S{1,40}){1,8})")
_YES_OR_NO = frozenset(
    "do does did is are was were has have had can could will would should may might must shall".split()
)


def _denies_by_name(said: tuple[str, ...], question: str) -> bool:
    """``there is no X`` for a name X that the question gives; of a question that takes X for granted also ``Y has no
    X`` and ``X is no part of Y``, which answer a question for yes or no.
    """
    text, names = " ".join(said[:200]), _names(question)
    match = _NO_THING.search(text)
    if match is not None and _has(match[1], names):
        return True
    if (words(question) or ("",))[0] in _YES_OR_NO:
        return False
    has_no, no_part = _HAS_NO.search(text), _NO_PART.search(text)
    if has_no is not None and _has(has_no[2], names):
        return not _SOURCES.intersection(has_no[1].split())
    return no_part is not None and _has(f" {no_part[1]}", names) and _has(no_part[2], names)


def _has(text: str, names: Sequence[str]) -> bool:
    return any(f" {name} " in f"{text} " for name in names)


_NAME = re.compile(r"(?<=[^.!?\s] )(?:[A-Z][\w'-]{1,40})(?: (?:[A-Z][\w'-]{1,40}|of|the)){0,5}|[\"“][^\"“”]{2,80}[\"”]")


def _names(question: str) -> list[str]:
    return [" ".join(words(match.group())) for match in _NAME.finditer(question[:2000])]


def _wanted(question: str) -> _Wanted:
    folded = fold(question)
    asked = [unit_of(word) for word in re.findall(r"\bin ([^\W\d_]{1,20})", folded)]
    if _NUMBER_ASKED.search(folded) or any(asked):
        return _Wanted.NUMBER
    return _Wanted.NAME if _NAME_ASKED.search(folded) else _Wanted.ANY


def _offered(clauses: Sequence[_Clause], question: str) -> bool:
    """Whether some clause offers an answer: it holds what is wanted, and it is about the question or says so."""
    wanted = _wanted(question)
    asked = {word for word in words(question) if word not in STOP_WORDS}
    for clause in clauses:
        if clause.does is not _Does.CONTENT or not _holds(clause, wanted, question):
            continue
        about = len(asked.intersection(clause.said)) >= (2 if wanted is not _Wanted.ANY else len(asked) + 1)
        if clause.offers or about or (wanted is not _Wanted.ANY and _points(clause.said)):
            return True
    return False


def _points(said: tuple[str, ...]) -> bool:
    """Whether a clause is short, or speaks of ``it``: it takes the question up without repeating it."""
    opening = [word for word in said if word not in ("but", "however", "although", "though", "yet", "still")]
    if opening[:1] == ["they"] and opening[1:2] and opening[1] in _REPORTS:  # of the documents: background, or not
        return False
    return len(opening) <= _SHORT or opening[:1] != [] and opening[0] in _POINTING or opening[:2] == ["the", "answer"]


def _holds(clause: _Clause, wanted: _Wanted, question: str) -> bool:
    """Whether the clause holds something of the wanted kind that the question does not already say."""
    if wanted is _Wanted.ANY:
        return True
    known, there = read_values(question), read_values(clause.text)
    numbers = {q.stated for q in there.quantities if not (q.spelled and q.stated == 1)} - {
        q.stated for q in known.quantities
    }
    dates = {(d.year, d.month, d.day) for d in there.dates} - {(d.year, d.month, d.day) for d in known.dates}
    if numbers or dates:
        return True
    return wanted is _Wanted.NAME and bool(_new_names(clause.text, question))


def _new_names(text: str, question: str) -> set[str]:
    """Capitalised words that do not begin the clause and are not the question's; quotations count."""
    asked = set(words(question))
    found: set[str] = set()
    text = text.lower() if text.isupper() else text  # capitals throughout mark no name
    for index, raw in enumerate(text.split()):
        for token in tokens(fold(raw)):
            own = token.text not in asked and token.text not in STOP_WORDS and unit_of(token.text) is None
            named = raw.strip("(\"'“‘*_")[:1].isupper() and index > 0 and token.text != "i"
            if own and (named or token.text == _PLACEHOLDER):
                found.add(token.text)
    return found
