"""Strict reading of replies: one object, one value, or unparseable (FAULTS §1, items 1, 3, 4, 6, 8, 10, 25)."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.choice import read_choice, read_object
from auditor.judge import VerdictKind
from auditor.label import LabelKind, Unparseable
from auditor.stance import StanceKind

KINDS: dict[str, LabelKind] = {"verdict": VerdictKind(), "stance": StanceKind()}
WORDS = {"verdict": ("correct", "incorrect"), "stance": ("answer", "abstain")}


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> LabelKind:
    """Both of the core's kinds: whatever can befall one reply can befall the other."""
    return KINDS[request.param]


def reply(kind: LabelKind, which: int = 0, **more: object) -> str:
    """A well-formed reply of the kind."""
    return json.dumps({kind.name: WORDS[kind.name][which], **more})


def test_readable_replies(kind: LabelKind) -> None:
    """Whole replies, one fenced block, comments, raw line breaks, case, equal objects, thinking before the object."""
    word = WORDS[kind.name][0]
    whole = reply(kind, reason='it says "yes" {so}')
    for text in (
        whole,
        f"\ufeff  {whole}\n",
        f"```json\n{whole}\n```\n\n",
        f"My decision:\n```\n{whole}\n```\nThat is all.",
        f'{{"{kind.name}": "{word}" // fine\n}}',
        f'{{"{kind.name}": "{word}", /* so */ "url": "http://x//y"}}',
        f'{{"{kind.name}": "{word}", "reason": "first\nsecond\ttab"}}',
        reply(kind).replace(word, f" {word.upper()} "),
        f"{reply(kind)}\n{reply(kind)}",
        f"```\n{reply(kind)}\n```\n```json\n{reply(kind)}\n```",
        f"<think>Perhaps {reply(kind, 1)}?</think>\n{reply(kind)}",
        reply(kind, reason="quotes </think> and <think>"),
        reply(kind, quoted=json.loads(reply(kind))),
        f"I give the {kind.name} {word}, not {WORDS[kind.name][1]}:\n```\n{reply(kind)}\n```",
    ):
        assert kind.parse(text) == word, text


def test_unreadable_replies(kind: LabelKind) -> None:
    """What a reader could take in two ways, or would have to guess, is no label."""
    name, (word, other) = kind.name, WORDS[kind.name]
    for text in (
        "",
        " \n",
        f"**Answer: {word.upper()}**",
        word,
        f'"{word}"',
        "A",
        "**A**lthough the answer is wrong",
        f"FINAL {name}: {word}",
        f'```json\n{{"{name}":"{word}"}}\n```\n{{"note":"see above"}}',
        f'{{"{name}":"{word}","reason":"the',
        f"{reply(kind, 1)}\n{reply(kind)}",
        f"{reply(kind, reason='a')} {reply(kind, reason='b')}",
        f"Draft: {reply(kind, 1)}\n```json\n{reply(kind)}\n```",
        f"```json\n{reply(kind, 1)}\n```\n```json\n{reply(kind)}\n```",
        f"```json\n{reply(kind)}",
        f"{reply(kind)} and so on",
        f"Here it is: {reply(kind)}",
        f"[{reply(kind)}]",
        f'{{"{name}":"{word}","{name}":"{other}"}}',
        f'{{"{name}":NaN}}',
        f'{{"{name}":null}}',
        f'{{"{name}":true}}',
        f'{{"{name}":1}}',
        f'{{"{name}":["{word}"]}}',
        f'{{"{name}":"not {word}"}}',
        f'{{"{name}":"{word[:3]}"}}',
        f'{{"{name}":""}}',
        f'{{"{name.upper()}":"{word}"}}',
        f'{{"{name}":"{word}","{name.title()}":"{other}"}}',
        f'{{"{name}":"{word}"," {name}":"{other}"}}',
        reply(kind, candidate=json.loads(reply(kind, 1))),
        reply(kind, steps=[{"n": [json.loads(reply(kind, 1))]}]),
        f"My {name}: {other}.\n```json\n{reply(kind)}\n```",
        f'```json\n{reply(kind)}\n```\nOn reflection the {name} is **"{other}"**.',
        "{}",
        f"{{'{name}': '{word}'}}",
        f'{{"{name}":"{word}",}}',
        f"<think>{reply(kind)}</think>",
        f"<think>{reply(kind)}",
        f'{{"{name}":"{word}" /* never closed',
        '{"a":' * 20_000,
        f'{{"n":{"9" * 5000},"{name}":"{word}"}}',
        reply(kind, reason="x" * 200_000),
    ):
        with pytest.raises(Unparseable):
            kind.parse(text)


def test_verdict_words_of_other_schemes_are_not_translated() -> None:
    """A, CORRECT_ANSWER, right, pass: none of them is a verdict."""
    for word in ("A", "right", "pass", "not_attempted", "mostly correct", "correct."):
        with pytest.raises(Unparseable):
            VerdictKind().parse(json.dumps({"verdict": word}))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_noise_never_becomes_a_label(text: str) -> None:
    """Whatever text a labeller returns, it is one of the values or unparseable; nothing else is raised."""
    try:
        value = read_choice(text, "verdict", ("correct", "incorrect"))
    except Unparseable:
        return
    assert value in ("correct", "incorrect")


@pytest.mark.parametrize("unit", ["```\n", '"', "{", "/*", "<think>", '{"a":1}', "\\", "// \n", "`"])
def test_hostile_replies_are_quick(unit: str) -> None:
    """No reply keeps the parser busy."""
    text = "{" + (unit * 100_000)[:99_000]
    begun = time.process_time()
    with pytest.raises(Unparseable):
        read_object(text)
    assert time.process_time() - begun < 1.0
