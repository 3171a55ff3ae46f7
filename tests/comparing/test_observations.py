"""What comparisons observe, as codes and values, and the sentences that are made of them when somebody reads one."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

import pytest

import pytest_promptfuzz
from pytest_promptfuzz import Finding, compare
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.data.tables import pairs
from pytest_promptfuzz.wording import comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(pytest_promptfuzz.__file__).parent
TEMPLATES = dict(pairs("wording/comparisons.tsv").items())
ANSWERS = [
    ("You have 14 days.", "You have 41 days."),
    ("You have 14 days.", "You have 14 days."),
    ("She mentions the plan.", "She explains the plan."),
    ("Yes.", "No, it does not."),
    ("refund", "The category is **Billing**."),
    ('{"a": 1, "b": [1, 2]}', '{"a": 2, "b": [2, 1]}'),
    ("SELECT a FROM t WHERE a > 1", "SELECT b FROM t WHERE a > 1"),
    ("x = f(1)", "x = f(2)"),
    ("You have 14 days. " * 20, "You have 14 days. " * 19 + "You have none."),
]
MAKERS = {"Observation": 0, "contradiction": 1, "doubt": 1, "told": 1}
"""What makes an observation, and the place of the code among its arguments."""


def sources() -> list[ast.Module]:
    paths = [path for room in ("comparing", "judging") for path in (PACKAGE / room).rglob("*.py")]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def made() -> Iterator[tuple[str, int | None]]:
    """The code of each observation that is written out, and how many values it has, where that is written out."""
    for tree in sources():
        for node in ast.walk(tree):
            name = getattr(node.func, "id", "told") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in MAKERS and isinstance(node.func, ast.Name | ast.IfExp):
                code, *values = node.args[MAKERS[name] :] or [None]
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    starred = any(isinstance(each, ast.Starred) for each in values)
                    yield code.value, None if starred else len(values)


def fields(template: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_each_observation_has_a_template_for_its_values() -> None:
    found = {*made()}
    assert len(found) > 150
    wrong = [
        (code, values)
        for code, values in found
        if code != "findings"  # of any number
        if code not in TEMPLATES or values not in {None, len(fields(TEMPLATES[code]))}
    ]
    assert wrong == []


def test_each_template_is_of_an_observation() -> None:
    texts = {
        node.value
        for tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [code for code in TEMPLATES if code not in texts] == []
    assert [code for code in TEMPLATES if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)] == []


def test_no_sentence_is_made_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(comparisons, "sentence", lambda code, values: asked.append(code) or "read")
    found = [compare(*pair, guards=[Shouting()]) for pair in ANSWERS]
    assert asked == []
    assert {each.explanation for each in found} == {"read"}
    assert asked == [each.code for each in found]


class Shouting:
    """A guard that only has sentences of its own."""

    name = "shouting"

    def check(self, baseline: str, response: str) -> Finding | None:
        return Finding("shouting", "contradiction", "the response shouts") if response.isupper() else None


def test_a_code_says_what_the_sentence_says() -> None:
    found = compare("You have 14 days.", "You have 41 days.")
    assert (found.code, found.explanation) == ("number-became", "number 14 in the baseline became 41")
    assert (found.tiers[-1].code, found.tiers[-1].note) == ("number-became", found.explanation)
    assert [compare(*pair).code for pair in ANSWERS[1:4]] == [
        "identical",
        "words-cannot-tell",
        "yes-no-became",
    ]


def test_a_sentence_of_the_users_has_no_code() -> None:
    found = compare("In 14 days.", "IN 14 DAYS.", guards=[Shouting()])
    assert (found.code, found.explanation, found.reason) == ("", "the response shouts", "guard:shouting")
    assert Finding(guard="mine", kind="doubt", explanation="hm").explanation == "hm"


def test_a_sentence_is_a_field_like_any_other() -> None:
    found = compare("You have 14 days.", "You have 41 days.")
    assert "explanation='number 14 in the baseline became 41'" in repr(found)
    assert replace(found, explanation="why").explanation == "why"
    assert replace(found, outcome="minor").explanation == found.explanation
    assert found.but(outcome="minor").code == found.code
    assert found == compare("You have 14 days.", "You have 41 days.")
    assert hash(found) == hash(replace(found))
    assert Tier("exact", 1.0).note == ""
    with pytest.raises(TypeError, match="explanation"):
        Comparison("minor", 0.8, "exact")  # type: ignore[call-arg]


def test_others_take_the_place_of_observations_within_one() -> None:
    inner = Observation(
        "words-cannot-tell",
        Observation("only-says", "baseline", ("a", "b")),
        Observation("judge-would-settle"),
    )
    found = Observation("in-prose", inner).with_others({"judge-would-settle": "nothing settles it"})
    assert str(found) == (
        "in the prose: words cannot tell whether the answers say the same: only the baseline says 'a', 'b'; "
        "nothing settles it"
    )
    assert str(inner).endswith("compare=False would settle it")


@pytest.mark.parametrize(
    ("observation", "said"),
    [
        (Observation("only-empty", "response"), "the response is empty"),
        (Observation("both-say", "yes"), "both answers say yes"),
        (Observation("answer-became", "a\n b", "c" * 80), f"'a b' became '{'c' * 59}…'"),
        (Observation("member-became", "a b", {"ä": [None, 1.5]}), "'a b' became {\"ä\": [null, 1.5]}"),
        (Observation("same-parts", ("JSON", "fields")), "JSON and fields and the text around say the same"),
        (Observation("may-say-fields", ("$.a", "$.b")), "whether the text says $.a, $.b cannot be told"),
        (
            Observation("code-numbers-became", ("1", "2"), Observation("none")),
            "the code has other numbers: 1, 2 became none",
        ),
        (Observation("less-alike", "a", "b", 0.456), "'a' is less like 'b' (0.46)"),
        (Observation("word-became", "{0}", "{1!r}"), "'{0}' in the baseline became '{1!r}'"),
    ],
)
def test_values_in_a_sentence(observation: Observation, said: str) -> None:
    assert str(observation) == said


def test_of_several_findings_two_are_named_and_each_once() -> None:
    words = [("Must", "may"), ("all", "some"), ("must", "may"), ("in", "out")]
    found = Observation("findings", *(Observation("word-became", *each) for each in words[:3]))
    assert str(found) == "'all' in the baseline became 'some'; 'Must' in the baseline became 'may'"
    found = Observation("findings", *(Observation("word-became", *each) for each in words[1:]))
    assert str(found) == "'all' in the baseline became 'some'; 'must' in the baseline became 'may'"
