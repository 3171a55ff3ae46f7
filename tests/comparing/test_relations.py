"""Answers compared up to their format and up to their language."""

from __future__ import annotations

import json
import string

import pytest
import yaml
from format_pairs import FORMAT_PAIRS, ORDER, PEOPLE
from hypothesis import given, settings
from hypothesis import strategies as st
from language_pairs import LANGUAGE_PAIRS, SENTENCES

from pytest_promptfuzz.comparing.answer_language import requested_language
from pytest_promptfuzz.comparing.formats import answer_formats, data_text
from pytest_promptfuzz.comparing.formats.alignment import Alignment, canonical_key, number_of
from pytest_promptfuzz.comparing.formats.answer_formats import (
    FORMATS,
    NotConforming,
    detect,
    read,
    requested_format,
)
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response, ToolCall
from pytest_promptfuzz.text.languages import language_of, language_tag, surely


@pytest.mark.parametrize(
    ("baseline", "response", "requested", "outcome"),
    [pair[1:] for pair in FORMAT_PAIRS],
    ids=[pair[0] for pair in FORMAT_PAIRS],
)
def test_formats(baseline: str, response: str, requested: str | None, outcome: str) -> None:
    found = compare(baseline, response, relation="format", requested_format=requested)
    assert found.outcome == outcome, found.explanation
    assert found.explanation
    assert (found.similarity is None) == (outcome == "undecided")


@pytest.mark.parametrize(
    ("baseline", "response", "requested", "outcome"),
    [pair[1:] for pair in LANGUAGE_PAIRS],
    ids=[pair[0] for pair in LANGUAGE_PAIRS],
)
def test_languages(baseline: str, response: str, requested: str | None, outcome: str) -> None:
    found = compare(baseline, response, relation="language", requested_language=requested)
    assert found.outcome == outcome, found.explanation
    assert (found.similarity is None) == (outcome == "undecided")


@pytest.mark.parametrize(("language", "text"), SENTENCES)
def test_the_language_of_a_sentence(language: str, text: str) -> None:
    assert surely(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Summarize: {text}", "en"),
        ("Paris", "en"),
        ("Ünïcödé", "und"),
        ("文章", "und"),
        ("Zażółć gęślą jaźń", "und"),
    ],
)
def test_a_prompt_of_few_words(text: str, language: str) -> None:
    assert language_of(text) == language
    assert surely(text) == "und"


PROGRAMS = [
    (
        "SELECT a FROM t WHERE b IN (1, 2) AND c IS NOT NULL",
        "SELECT a FROM t WHERE b IN (1, 2) AND c IS NOT NULL",
        "equivalent",
    ),
    ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 2", "deviation"),
    (
        "def f(a):\n    return a not in b and a is not c",
        "def f(a):\n    return a not in b and a is not c",
        "equivalent",
    ),
    (
        "```python\nfor a in b:\n    if a is not c and a not in d:\n        print(a)\n```",
        "```python\nfor a in b:\n    if a is not c and a not in d:\n        print(a)\n```\n\nVoilà le programme que vous avez demandé.",
        "equivalent",
    ),
]


@pytest.mark.parametrize(("baseline", "response", "outcome"), PROGRAMS)
def test_a_program_has_no_language(baseline: str, response: str, outcome: str) -> None:
    found = compare(baseline, response, relation="language", requested_language="fr")
    assert found.outcome == outcome, found.explanation


def test_explanations_name_the_place() -> None:
    wrong = ORDER.replace("4711", "4712")
    in_yaml = "customer: Ada Lovelace\norder_number: 4711\npaid: true\nitems: [lamp, desk]"
    found = compare(wrong, in_yaml, relation="format", requested_format="yaml")
    assert found.explanation == "the content differs at $.order_number: 4712 became 4711 (JSON against YAML)"
    broken = compare(ORDER, "a: [1", relation="format", requested_format="yaml")
    assert broken.reason == "format:not-conforming"
    assert broken.explanation.startswith("the response is not YAML (line ")
    swapped = compare(
        '{"sender": "Ada", "receiver": "Bob"}',
        "The sender is Bob and the receiver is Ada.",
        relation="format",
        requested_format="text",
    )
    assert swapped.explanation == "the content differs at $.sender: its value is said of 'receiver'"
    other = compare(
        "The parcel will arrive on Thursday, and it is not late.",
        "Das Paket kommt am Donnerstag an und ist nicht zu spät.",
        relation="language",
        requested_language="fr",
    )
    assert other.explanation == "the answer is in German, not in French"


MORE = [
    ('{"label": "POSITIVE"}', "- POSITIVE", "markdown", "equivalent"),
    (
        '{"summary": "The parcel came late.", "mood": "negative"}',
        "# Summary\nThe parcel came late.\n\n# Mood\nnegative",
        "markdown",
        "equivalent",
    ),
    (
        '{"summary": "The parcel came late.", "mood": "negative"}',
        "<body><h1>Summary</h1><p>The parcel came late.</p><h1>Mood</h1><p>positive</p></body>",
        "html",
        "deviation",
    ),
    ('{"a": [], "b": {}}', "<r><a/><b/></r>", "xml", "equivalent"),
    (
        '{"steps": ["Reset the router.", "Call support."]}',
        "Reset the router.\nCall support.",
        "text",
        "equivalent",
    ),
    (
        '{"steps": ["Reset the router.", "Call support."]}',
        "Reset the router.\nDo not call support.",
        "text",
        "deviation",
    ),
    ('{"name": "Ada", "age": 36}', "The name is not Ada, and the age is 36.", "text", "undecided"),
    ('{"spam": true}', "Yes.", "text", "equivalent"),
    ('{"spam": true}', "No.", "text", "deviation"),
    ('{"spam": null}', "No.", "text", "undecided"),
    ("[1, 2, 3]", "1, 2, 3", "text", "equivalent"),
    ("[1, 2, 3]", "1, 2, 4", "text", "deviation"),
    ('{"zip": "01234"}', 'zip: "1234"', "yaml", "deviation"),
    ('{"total": 12.5}', 'total: "12.50"', "yaml", "equivalent"),
    ('{"pros": ["fast", "cheap"]}', "# Cons\n- fast\n- cheap", "markdown", "deviation"),
    ("SELECT a FROM t WHERE id = 3", '{"sql": "select a from t where id = 3"}', "json", "equivalent"),
    ("SELECT a FROM t WHERE id = 3", '{"sql": "SELECT a FROM t WHERE id = 4"}', "json", "deviation"),
    ('{"a": 1}', 'Here it is: {"a": 1}', None, "equivalent"),
    ('{"summary": "Note: the parcel is late."}', "Note: the parcel is late.", "text", "equivalent"),
    ('{"label": "POSITIVE"}', "Sentiment: POSITIVE", "text", "equivalent"),
    ('{"name": "Ada", "age": 36}', "| Name | Age |\n|---|---|\n| Ada | 36 |", "markdown", "equivalent"),
    ("# Cons\n- Speed: high", "<pros><speed>high</speed></pros>", "xml", "deviation"),
    ("# Answer\n- Speed: high", "<answer><speed>high</speed></answer>", "xml", "equivalent"),
    ("# Answer\n- Speed: high", "<result><speed>high</speed></result>", "xml", "equivalent"),
    (
        '{"title": "Dune", "year": 1965, "authors": ["Frank Herbert"]}',
        "<h1>Dune</h1><ul><li>Year: 1965</li><li>Authors: Frank Herbert</li></ul>",
        "html",
        "minor",
    ),
    (
        '{"title": "Dune", "year": 1965, "authors": ["Frank Herbert"]}',
        "<h1>Dune</h1><ul><li>Year: 1956</li><li>Authors: Frank Herbert</li></ul>",
        "html",
        "deviation",
    ),
    ("URGENT", '{"priority": "NORMAL", "reason": "The server is down."}', "json", "deviation"),
    ("URGENT", '{"priority": "URGENT", "reason": "The server is down."}', "json", "minor"),
    ("Berlin, Paris, Rome", '["Berlin", "Paris", "Rome"]', "json", "equivalent"),
    ("Berlin, Paris, Rome", '{"cities": ["Berlin", "Madrid", "Rome"]}', "json", "deviation"),
    (PEOPLE, "| Name | Age |\n|---|---|\n| Ada | 36 |", "markdown", "deviation"),
    (
        '{"a": "x", "b": "y"}',
        "<table><tr><td><p>a</p></td><td>x</td></tr><tr><td>b</td><td>y</td></tr></table>",
        "html",
        "equivalent",
    ),
]


@pytest.mark.parametrize(("baseline", "response", "requested", "outcome"), MORE)
def test_formats_found_later(baseline: str, response: str, requested: str | None, outcome: str) -> None:
    found = compare(baseline, response, relation="format", requested_format=requested)
    assert found.outcome == outcome, found.explanation


def test_paths_are_left_out_of_formats_and_languages() -> None:
    first, second = '{"id": 1, "label": "LATE"}', "id: 2\nlabel: LATE"
    asked = {"relation": "format", "requested_format": "yaml"}
    assert compare(first, second, **asked).outcome == "deviation"
    assert compare(first, second, ignore=["$.id"], **asked).outcome == "equivalent"
    third = '{"id": 2, "label": "LATE"}'
    assert compare(first, third, relation="language", requested_language="fr").outcome == "deviation"
    assert compare(first, third, relation="language", ignore=["$.id"]).outcome == "equivalent"


def test_data_and_tool_calls_have_no_format_of_their_own() -> None:
    assert compare({"a": 1}, {"a": 1}, relation="format", requested_format="yaml").outcome == "equivalent"
    assert (
        compare({"a": "LATE"}, {"a": "LOST"}, relation="language", requested_language="fr").outcome
        == "deviation"
    )
    call = Response("", tool_calls=(ToolCall("find", {"q": "a"}, id="x"),))
    assert compare(call, call, relation="format", requested_format="xml").outcome == "equivalent"
    assert compare(call, call, relation="language", requested_language="fr").outcome == "equivalent"


RENAMED = {"total": "my_total", "price": "var_1"}


@pytest.mark.parametrize(
    ("baseline", "response", "renaming", "outcome"),
    [
        ("def f(price):\n    return price * 2", "def f(var_1):\n    return var_1 * 2", RENAMED, "equivalent"),
        ("def f(price):\n    return price * 2", "def f(var_1):\n    return var_1 * 3", RENAMED, "deviation"),
        ('{"variable": "total"}', '{"variable": "my_total"}', RENAMED, "equivalent"),
        ('{"variable": "total"}', '{"variable": "var_1"}', RENAMED, "deviation"),
        ("You have 14 days.", "You have 41 days.", None, "undecided"),
        ("You have 14 days.", "You have 41 days.", RENAMED, "deviation"),
        ("You have 14 days.", "You have 14 days.", {}, "equivalent"),
    ],
)
def test_renaming(baseline: str, response: str, renaming: dict[str, str] | None, outcome: str) -> None:
    assert compare(baseline, response, relation="renaming", renaming=renaming).outcome == outcome


def test_names_are_mapped_back_under_their_relation_only() -> None:
    assert compare("total", "my_total", renaming=RENAMED).outcome != "equivalent"
    with pytest.raises(UsageError, match="renaming"):
        compare("a", "b", relation="renaming", renaming={"a b": "c"})


def test_an_answer_that_was_cut_off_is_not_equivalent() -> None:
    whole, cut = Response('{"a": 1}', finish_reason="stop"), Response("a: 1", finish_reason="length")
    assert compare(whole, cut, relation="format", requested_format="yaml").outcome == "minor"


@pytest.mark.parametrize(
    ("operators", "wanted"),
    [
        (("format-json@1",), "json"),
        (("upper@1", "format-markdown@2"), "markdown"),
        (("format-json@1", "format-xml@1"), "xml"),
        (("upper@1",), None),
        (("format-jsonl@1",), None),
        ((), None),
    ],
)
def test_the_format_a_mutation_asks_for(operators: tuple[str, ...], wanted: str | None) -> None:
    assert requested_format(operators) == wanted


@pytest.mark.parametrize(
    ("operators", "wanted"),
    [
        (("answer-in-fr@1",), "fr"),
        (("answer-in-fr-ca@1",), "fr-CA"),
        (("translated-pt-br@1",), "pt-BR"),
        (("translated-es-answer-in-ja@3",), "ja"),
        (("translated-fr-ca-answer-in-en@1",), "en"),
        (("answer-in-zz@1",), None),
        (("typo@1",), None),
    ],
)
def test_the_language_a_mutation_asks_for(operators: tuple[str, ...], wanted: str | None) -> None:
    assert requested_language(operators) == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"requested_format": "jason"}, "requested_format='jason' is not one of .*Did you mean 'json'"),
        ({"requested_format": ""}, "requested_format='' is not one of json"),
        (
            {"requested_language": "french"},
            "requested_language='french' is no language; give an ISO 639-1 code",
        ),
        ({"requested_language": 3}, "requested_language=3"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("a", "b", **arguments)


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("fr", "fr"),
        ("FR_ca", "fr-CA"),
        ("pt-br", "pt-BR"),
        ("xx", None),
        ("eng", None),
        ("", None),
        ("e", None),
    ],
)
def test_language_tags(tag: str, written: str | None) -> None:
    assert language_tag(tag) == written


YAML = [
    ("a: 1", {"a": 1}),
    ("---\na: 1\n...", {"a": 1}),
    ("a:\n  b:\n    - 1\n    - c: 2\n      d: 3", {"a": {"b": [1, {"c": 2, "d": 3}]}}),
    ("- - 1\n  - 2\n- - 3", [[1, 2], [3]]),
    ("-\n  a: 1\n-\n  a: 2", [{"a": 1}, {"a": 2}]),
    ("a: 'it''s'", {"a": "it's"}),
    ('a: "tab\\there"', {"a": "tab\there"}),
    ('"a b": x # y', {"a b": "x"}),
    ("a: |\n  one\n  two\nb: 2", {"a": "one\ntwo", "b": 2}),
    ("a: >-\n  one\n  two\n\n  three", {"a": "one two\nthree"}),
    ("a: one\n  two", {"a": "one two"}),
    ("a: {b: 1, c: [x, 'y, z']}", {"a": {"b": 1, "c": ["x", "y, z"]}}),
    ("a: [\n  1,\n  2\n]\nb: 3", {"a": [1, 2], "b": 3}),
    ("a: {b 1}", {"a": {"b 1": None}}),
    ('a: ""\nb: "1"\nc: \'no\'', {"a": "", "b": "1", "c": "no"}),
    ("a: True\nb: FALSE\nc: tRUE\nd: NULL", {"a": True, "b": False, "c": "tRUE", "d": None}),
    ("a: " + "9" * 301, {"a": "9" * 301}),
    ("a: [\n  1,\n  2]\nb: 3", {"a": [1, 2], "b": 3}),
    ("a:\nb: ~\nc: null", {"a": None, "b": None, "c": None}),
    ("a: http://x.y/z", {"a": "http://x.y/z"}),
    ("a: 12:30", {"a": "12:30"}),
    ("a: 007\nb: -1.5e3\nc: 1_000", {"a": "007", "b": -1500.0, "c": "1_000"}),
    ("plain words", "plain words"),
    ("", None),
]


@pytest.mark.parametrize(("text", "value"), YAML)
def test_yaml_is_read(text: str, value: object) -> None:
    assert data_text.load(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n   b: 2",
        "a: 1\na: 2",
        "a: [1",
        "a: b: c",
        "a: 'open",
        "\ta: 1",
        "a: &x 1",
        "a: *x",
        "a: !tag 1",
        "a: 1\n- b",
        "a\nb: 1",
        'a: "x" y',
        "? [a, b]\n: 1",
        "a: 1\n---\na: 2",
        "a: \x00",
        "a: \ud800",
        "- " * 3000 + "x",
        "[" * 20_000,
        "a:\n" + "".join(f"{' ' * n}b:\n" for n in range(1, 200)),
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]",
        "a: !!python/object/apply:os.system [ls]",
        "x" * 50_001,
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_yaml_is_refused(text: str) -> None:
    with pytest.raises(data_text.YamlError):
        data_text.load(text)


def test_yaml_is_the_same_without_the_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    for text, value in YAML:
        assert data_text.load(text) == value


NESTED_YAML = "invoice:\n  total: 99.5\n  due: 2024-03-14"


@pytest.mark.parametrize(
    ("baseline", "response", "requested", "outcome"),
    [
        ('{"a": 1}', "a: 1", "yaml", "undecided"),
        ('{"a": 1}', "a: 2", "yaml", "undecided"),
        ('{"a": 1}', '{"a": 2}', "yaml", "deviation"),  # JSON is YAML
        ('{"a": 1}', "I'm sorry, but I cannot help with that.", "yaml", "deviation"),
        (NESTED_YAML, "I'm sorry, but I cannot help with that.", None, "deviation"),
        ("a: 1", "a: 1", "yaml", "equivalent"),
        (NESTED_YAML, '{"invoice": {"total": 99.5, "due": "2024-03-14"}}', "json", "undecided"),
        ('{"invoice": {"total": 99.5, "due": "2024-03-14"}}', NESTED_YAML, None, "undecided"),
        ('{"name": "Ada", "age": 36}', "name: Ada\nage: 63", "text", "deviation"),  # fields are text enough
    ],
)
def test_without_pyyaml_yaml_is_text(
    baseline: str, response: str, requested: str | None, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_text, "yaml_installed", lambda: False)
    found = compare(baseline, response, relation="format", requested_format=requested)
    assert found.outcome == outcome, found.explanation
    if outcome == "undecided":
        assert "pip install 'pytest-promptfuzz[yaml]'" in found.explanation


SCALARS = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text("abc xyz-", max_size=8)
KEYS = st.text(string.ascii_lowercase, min_size=1, max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


def as_yaml(value: object, indent: int = 0) -> str:
    """Block style, the scalars as JSON writes them."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{pad}{key}:{_nested(item, indent)}" for key, item in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{pad}-{_nested(item, indent)}" for item in value)
    return f"{pad}{json.dumps(value)}\n"


def _nested(item: object, indent: int) -> str:
    inner = as_yaml(item, indent + 2)
    return f" {inner.lstrip()}" if not isinstance(item, (dict, list)) or not item else f"\n{inner}"


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_is_written_as_yaml_is_read_as_it_was(value: object) -> None:
    assert data_text.load(as_yaml(value)) == value


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_the_same_data_in_yaml_is_equivalent(value: dict[str, object]) -> None:
    found = compare(json.dumps(value), as_yaml(value), relation="format", requested_format="yaml")
    assert found.outcome == "equivalent", found.explanation


TEXTS = st.text(max_size=60) | st.sampled_from(
    [
        ORDER,
        "a: 1\nb: [",
        "<a><b>1</b></a>",
        "<p>x",
        "</p>",
        "| a |",
        "- ",
        "1. x",
        "```",
        "**a:** b",
        "<!DOCTYPE a>",
        "a:\n- b",
    ]
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([None, *FORMATS]))
def test_any_two_answers_can_be_compared(first: str, second: str, requested: str | None) -> None:
    found = compare(first, second, relation="format", requested_format=requested)
    assert found.explanation
    assert found.similarity is None or 0 <= found.similarity <= 1
    assert compare(first, second, relation="language", requested_language="fr").explanation


def test_hostile_markup() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "xx"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    with pytest.raises(answer_formats.MarkupError, match="document type"):
        answer_formats.load_xml(bomb)
    with pytest.raises(answer_formats.MarkupError, match="deeper"):
        answer_formats.load_xml("<a>" * 200 + "</a>" * 200)
    with pytest.raises(answer_formats.MarkupError, match="left open"):
        answer_formats.html_blocks("<div><p>x")
    with pytest.raises(answer_formats.MarkupError, match="<b> is left open before </ul>"):
        answer_formats.html_blocks("<ul><b>x</ul>")
    with pytest.raises(answer_formats.MarkupError, match="</b> closes nothing"):
        answer_formats.html_blocks("<p>x</b>")
    assert answer_formats.html_blocks("<script>alert(1)</script><p>x</p>") == [
        answer_formats.DocumentBlock("text", 0, ("x",))
    ]
    with pytest.raises(answer_formats.MarkupError, match="do not end"):
        answer_formats.html_blocks("<a " * 30_000)
    assert read("<a>" * 3000, None).format in {"xml", "markdown", "text"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"a": 1}', "json"),
        ("```json\n[1]\n```", "json"),
        ("a: 1\nb: 2", "yaml"),
        ("```yml\na: 1\n```", "yaml"),
        ("<a><c>1</c></a>", "xml"),
        ("<p>one</p>", "html"),
        ("# One\n\ntwo", "markdown"),
        ("- one\n- two", "markdown"),
        ("Note: this is prose.", "text"),
        ("One sentence.\nNote: it goes on.", "text"),
        ("3 < 4 and 5 > 2", "text"),
        ("", "text"),
    ],
)
def test_formats_are_told_apart(text: str, name: str) -> None:
    assert detect(text) == name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("**Name:** Ada\n**Age:** 36", {"Name": "Ada", "Age": "36"}),
        (
            "- Name: Ada\n- Age: 36\n- Name: Alan\n- Age: 41",
            [{"Name": "Ada", "Age": "36"}, {"Name": "Alan", "Age": "41"}],
        ),
        ("# A\n## B\n- c\n## D\n- e", {"A": {"B": ["c"], "D": ["e"]}}),
        ("Steps:\n1. one\n2. two", {"Steps": ["one", "two"]}),
        ("- [link](https://x.y)\n- `code`", ["link", "code"]),
        ("It is late, sir: go home.", "It is late, sir: go home."),
        ("| k | v | w |\n|---|---|---|\n| 1 | 2 | 3 |", [{"k": "1", "v": "2", "w": "3"}]),
        ("- Ada\n  - age: 36\n- Alan\n  - age: 41", {"Ada": {"age": "36"}, "Alan": {"age": "41"}}),
    ],
)
def test_markdown_as_data(text: str, value: object) -> None:
    assert answer_formats.value_of(answer_formats.markdown_blocks(text)) == value


def test_alignment_gives_back_what_formats_lose() -> None:
    assert (
        canonical_key("orderNumber")
        == canonical_key("Order number")
        == canonical_key("order_number")
        == "order number"
    )
    assert number_of("1,250.50") == 1250.5
    assert number_of("007") is None
    assert number_of("12,5") is None
    both = Alignment(
        {"n": 3, "tags": ["a"], "ok": False}, {"result": {"N": "3", "tags": {"tag": "a"}, "OK": "no"}}
    )
    assert both.first == both.second == {"n": 3, "tags": ["a"], "ok": False}
    assert Alignment({"error": "x"}, {"label": "x"}).second == {"label": "x"}


def test_an_answer_not_in_its_format_says_why() -> None:
    for name, text in (
        ("json", "{"),
        ("xml", "a"),
        ("html", "a"),
        ("yaml", "a b c"),
        ("text", "# a"),
        ("markdown", "{}"),
    ):
        with pytest.raises(NotConforming, match="the response is"):
            read(text, name)


@pytest.mark.parametrize("begins", ["", "```\n", "```yaml\n", "[a](b)\n"])
@pytest.mark.parametrize("unit", ["- a: b\n", "| a | b |\n"])
def test_what_is_too_long_to_be_read_line_by_line_is_undecided(begins: str, unit: str) -> None:
    long, end = begins + unit * (60_000 // len(unit)), "```\n" if begins[:1] == "`" else ""
    found = compare(f"{long}{end}", f"{long}{unit}{end}", relation="format")
    assert (found.outcome, found.reason) == ("undecided", "too-long")
    assert "too long to be compared word by word" in found.explanation
    assert compare(long, long, relation="format").outcome == "equivalent"


def test_a_long_json_answer_is_compared() -> None:
    rows = [{"a": n} for n in range(8_000)]
    assert compare(json.dumps(rows), json.dumps(rows, indent=1), relation="format").outcome == "equivalent"
    assert (
        compare(json.dumps(rows), json.dumps([*rows[:-1], {"a": 0}]), relation="format").outcome
        == "deviation"
    )
