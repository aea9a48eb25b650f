"""What a labeller may see of an answer: without thinking, citation marks and house phrases, cut at a fixed length.

Invariant: what is removed is counted, what looks like an attack is flagged and stays, and the caller keeps the raw
text (DESIGN §4, rule 4). Every pattern is linear on hostile text: bounded, possessive, or anchored to a run's start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from auditor.canonical import clean_text

__all__ = ["CUT_CHARACTERS", "InjectionFlag", "Scrubbed", "injection_flags", "scrub", "strip_thinking"]

CUT_CHARACTERS = 12_000


class InjectionFlag(StrEnum):
    """What an answer tried to do to its labeller. The text stays; the trial carries the flag."""

    FENCE = "fence"  # writes the end of a data block
    VERDICT = "verdict"  # writes a verdict
    FORMAT = "format"  # reaches for a format string
    ROLE = "role"  # opens a turn of the chat
    INSTRUCTION = "instruction"  # tells the reader to forget its task


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A scrubbed answer. ``text`` is empty when nothing but thinking and marks was there: it has no stance.

    ``cut_characters``: how many fell to the cut. ``normalised``: the raw text had characters that UTF-8 cannot carry.
    """

    text: str
    marks_removed: int = 0
    phrases_removed: int = 0
    thinking_removed: int = 0
    cut_characters: int = 0
    injection_flags: tuple[InjectionFlag, ...] = ()
    normalised: bool = False


_THINK_TAG = re.compile(
    r"(?<!`)(?:<(?P<close>/)?(?:think|thinking|thought|thoughts|reasoning|reflection)\s?>|\[(?P<shut>/)?THINK\])",
    re.IGNORECASE,
)


def strip_thinking(text: str) -> tuple[str, int]:
    """``text`` without its thinking blocks, and how many there were.

    A block that begins a line and is never closed runs to the end; one that is closed without having been opened runs
    from the start (chat templates open it in the prompt). A tag behind a backtick is quoted, not written. Blocks do not
    nest: a second opening tag is part of the thought.
    """
    kept: list[str] = []
    opened: int | None = None
    begin, blocks = 0, 0
    for tag in _THINK_TAG.finditer(text):
        closing = tag["close"] is not None or tag["shut"] is not None
        if closing:
            if opened is None:
                kept.clear()
            blocks += opened is None
            opened = None
        elif opened is None:
            kept.append(text[begin : tag.start()])
            blocks, opened = blocks + 1, tag.start()
        begin = tag.end()
    if opened is not None and text[text.rfind("\n", 0, opened) + 1 : opened].strip():
        kept.append(text[opened:])
        blocks -= 1
    elif opened is None:
        kept.append(text[begin:])
    return ("".join(kept).strip() if blocks else text), blocks


# A citation between a private-use opening and closing mark, as one vendor's wire has it; then the same with the marks
# lost on the way.
_PRIVATE_SPAN = re.compile("\ue200[a-z_]{1,20}(?:\ue202[^\ue200-\ue202\n]{0,200}+)*+\ue201")
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]++")
_BARE_SPAN = re.compile(r"(?<![^\W_])(?:file|nav)?cite(?:turn\d{1,4}[a-z]{1,12}\d{1,4})++")
_LENTICULAR = re.compile(r"【(?:[^【】\n]{0,200}?†[^【】\n]{0,200}|\d{1,4}(?::\d{1,4})?)】")
_NAMED_MARK = re.compile(
    r"\[(?:\^\d{1,4}\^?|(?:citation|cite|source|sources|ref|doc|document)\s?[:#]?\s?\d{1,4}(?:\s?,\s?\d{1,4}){0,20}"
    r"|\d{1,4}:\d{1,4}†[^\[\]\n]{0,200})\]",
    re.IGNORECASE,
)
_NUMBER_MARKS = re.compile(r"(?P<gap> ?)(?P<marks>(?:\[\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\] ?(?=\[\d|(?!\[)))++)")
_AFTER_MARK = re.compile(r"\Z|[\s.,;:!?)\"'”’*_|]")
_BEFORE_MARK = re.compile(r"[^\W_]|[.,;!?)\"'”’*_%°\]】]")
# A word that a sentence cannot end on: the bracket behind it is what the sentence says.
_GOVERNS = frozenset(
    "a an and are array as at be by contains equals for from gives in index into is item list matrix of or page print "
    "returns row set step the to value vector was were with".split()
)
_CODE = re.compile(r"```.*?(?:```|\Z)|(?<!`)`[^`\n]{1,500}`", re.DOTALL)
_LOOSE_SPACE = re.compile(r"(?<=\S)(?<! ) ++(?=[.,;:!?](?:\s|\Z))")


def _remove_number_marks(text: str) -> tuple[str, int]:
    """``[1]`` and its like in citation position: behind a word or its punctuation, before a space, punctuation or end.

    Kept: at the start of a line, behind ``=``, ``:`` or an opening bracket, behind a word that needs an object
    (``is``, ``of``, ``index``), glued to what follows, and glued to a word that is followed by an operator.
    """
    removed = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal removed
        if not _cites(text, match):
            return match.group()
        removed += match["marks"].count("[")
        return " " if match.group().endswith(" ") else ""

    return _NUMBER_MARKS.sub(replace, text), removed


def _cites(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    if start == 0 or not _BEFORE_MARK.match(text, start - 1):
        return False
    after = text[end - 1] if match.group().endswith(" ") else text[end : end + 1]
    if after and not _AFTER_MARK.match(after):
        return False
    if text[end : end + 1] in ("=", "+", "*") and not text[end : end + 2].startswith("**"):
        return False
    last = re.split(r"[^\w]", text[max(0, start - 24) : start])[-1]
    return not (match["gap"] and last.casefold() in _GOVERNS)


def _outside_code(text: str) -> Iterable[tuple[str, bool]]:
    """Parts of ``text``, each with whether it is code."""
    begin = 0
    for code in _CODE.finditer(text):
        yield text[begin : code.start()], False
        yield code.group(), True
        begin = code.end()
    yield text[begin:], False


def _remove_marks(text: str) -> tuple[str, int]:
    """``text`` without citation marks, and how many there were. Code is left alone but for private-use characters."""
    removed = 0
    for pattern in (_PRIVATE_SPAN, _PRIVATE_USE):
        text, count = pattern.subn("", text)
        removed += count
    parts: list[str] = []
    for part, code in _outside_code(text):
        if not code:
            for pattern in (_BARE_SPAN, _LENTICULAR, _NAMED_MARK):
                part, count = pattern.subn("", part)
                removed += count
            part, count = _remove_number_marks(part)
            removed += count
        parts.append(part)
    return "".join(parts), removed


def _remove_phrases(text: str, phrases: Sequence[str]) -> tuple[str, int]:
    removed = 0
    for phrase in sorted(filter(None, phrases), key=lambda one: (-len(one), one)):
        removed += text.count(phrase)
        text = text.replace(phrase, "")
    return text, removed


_FLAG_PATTERNS: tuple[tuple[InjectionFlag, re.Pattern[str]], ...] = (
    (
        InjectionFlag.FENCE,
        re.compile(
            r"[\[<(#=-]{1,4}\s?/?(?:end|begin|start)[ _-]?(?:of[ _-]?)?(?:the[ _-]?)?"
            r"(?:data|candidate|answer|response|question|reference|input|context)\b"
            r"|</(?:data|candidate|answer|response|question|references?|input|context)>",
            re.IGNORECASE,
        ),
    ),
    (
        InjectionFlag.VERDICT,
        re.compile(
            r"\b(?:grade|verdict|judgement|judgment|stance|score)[\"'*_]{0,4}\s?[:=][\s\"'*_]{0,5}"
            r"(?:a|b|c|correct|incorrect|partial|right|wrong|not_attempted|answer|abstain|deny|unsure|pass|fail|1|0)\b",
            re.IGNORECASE,
        ),
    ),
    (
        InjectionFlag.FORMAT,
        re.compile(
            r"\{\{?\s?[a-z_]\w{0,40}(?:[.\[][\w.\[\]'\"]{0,80})?(?:![rsa])?\s?\}|\$\{?[A-Za-z_]\w{2,40}\}?|%\(\w{1,40}\)[sdr]"
            r"|\{%|<<[A-Z]{3,20}>>"
        ),
    ),
    (
        InjectionFlag.ROLE,
        re.compile(
            r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|(?:^|\n)\s{0,4}(?:system|assistant|user|human)\s?:\s",
            re.IGNORECASE,
        ),
    ),
    (
        InjectionFlag.INSTRUCTION,
        re.compile(
            r"\b(?:ignore|disregard|forget|override)\s(?:all\s|any\s|the\s|your\s|these\s|previous\s|prior\s|above\s){1,4}"
            r"(?:instructions?|prompts?|rules|guidelines|text|references?)\b",
            re.IGNORECASE,
        ),
    ),
)


def injection_flags(text: str) -> tuple[InjectionFlag, ...]:
    """What ``text`` tries to do to whoever reads it as part of a prompt."""
    return tuple(flag for flag, pattern in _FLAG_PATTERNS if pattern.search(text))


def scrub(text: str, house_phrases: Sequence[str] = ()) -> Scrubbed:
    """The answer as labellers see it.

    ``house_phrases`` are literal (``SystemTraits.house_phrases``). Attempts to forge are flagged on the text before
    anything is removed, so that an attack inside a thinking block shows too. METHODS §2, "Panel".
    """
    text, normalised = clean_text(text)
    flags = injection_flags(text)
    text, thinking = strip_thinking(text)
    text, marks = _remove_marks(text)
    text, phrases = _remove_phrases(text, house_phrases)
    text = _LOOSE_SPACE.sub("", text).strip()
    cut = max(0, len(text) - CUT_CHARACTERS)
    return Scrubbed(text[:CUT_CHARACTERS], marks, phrases, thinking, cut, flags, normalised)
