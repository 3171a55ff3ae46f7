"""Answers held to a JSON Schema."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pytest_promptfuzz.comparing.formats.data_text import one_breaks, read_schema
from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response, ToolCall

INVOICE = {
    "type": "object",
    "required": ["total"],
    "additionalProperties": False,
    "properties": {
        "total": {"type": "number", "minimum": 0},
        "due": {"type": "string", "format": "date"},
        "unit price": {"type": "number"},
        "state": {"enum": ["open", "paid"]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
    },
    "$defs": {"item": {"type": "object", "required": ["of"], "properties": {"price": {"type": "number"}}}},
}
GOOD = {"total": 12, "due": "2024-03-05", "state": "open", "items": [{"of": "lamp", "price": 3.5}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"total": "12"}, "at $.total: '12' is not of type 'number' (rule 'type')"),
        ({"total": -1}, "at $.total: -1 is less than the minimum of 0 (rule 'minimum')"),
        ({"state": "void"}, "at $.state: 'void' is not one of ['open', 'paid'] (rule 'enum')"),
        ({"unit price": "x"}, "at $[\"unit price\"]: 'x' is not of type 'number' (rule 'type')"),
        ({"items": [{"of": "a"}, {"of": "b", "price": "2"}]}, "at $.items[1].price: '2' is not of type 'number'"),
        ({"items": [{"price": 2}]}, "at $.items[0]: 'of' is a required property (rule 'required')"),
        ({"note": "hi"}, "at $: Additional properties are not allowed ('note' was unexpected)"),
    ],
)  # fmt: skip
def test_a_response_that_breaks_it_is_a_deviation_with_path_and_rule(change, said):
    found = compare(json.dumps(GOOD), json.dumps(GOOD | change), schema=INVOICE)
    assert (found.outcome, found.reason, found.similarity) == ("deviation", "json-schema", 0.0)
    assert f"the response breaks the schema {said}" in found.explanation


def test_several_errors_are_counted_and_long_values_cut():
    found = compare(json.dumps(GOOD), json.dumps(GOOD | {"total": "9" * 5000, "state": "x"}), schema=INVOICE)
    assert "(and 1 more)" in found.explanation
    assert len(found.explanation) < 250


def test_what_keeps_it_is_compared_as_ever():
    assert compare(json.dumps(GOOD), json.dumps(GOOD), schema=INVOICE).outcome == "equivalent"
    found = compare(json.dumps(GOOD), json.dumps(GOOD | {"total": 15}), schema=INVOICE)
    assert found.explanation == "JSON differs at $.total: 12 became 15"
    assert compare(GOOD, GOOD | {"total": "12"}, schema=INVOICE).reason == "json-schema"
    wrapped = f"Here it is:\n```json\n{json.dumps(GOOD)}\n```"
    assert compare(json.dumps(GOOD), wrapped, schema=INVOICE).outcome == "minor"
    assert compare(json.dumps(GOOD), "I lost it.", schema=INVOICE).reason == "json-format"


def test_a_baseline_that_breaks_it_is_an_error():
    with pytest.raises(
        ConfigurationError, match=r"The baseline itself breaks the schema \(schema=\): \$: 'total' is"
    ):
        compare("{}", json.dumps(GOOD), schema=INVOICE)
    with pytest.raises(ConfigurationError, match="it is no JSON"):
        compare("twelve", json.dumps(GOOD), schema=INVOICE)


def test_format_is_checked_only_if_asked():
    odd = json.dumps(GOOD | {"due": "tomorrow"})
    assert compare(json.dumps(GOOD), odd, schema=INVOICE).reason == "json"
    found = compare(json.dumps(GOOD), odd, schema=INVOICE, profile=profile_for("json", check_formats=True))
    assert "at $.due: 'tomorrow' is not a 'date' (rule 'format')" in found.explanation


def test_of_two_answers_one_may_break_it():
    schema, bad = read_schema(INVOICE), json.dumps(GOOD | {"total": "12"})
    for first, second, breaks in (
        (json.dumps(GOOD), bad, True),
        (bad, json.dumps(GOOD), True),
        ("none", json.dumps(GOOD), True),
        (bad, bad, False),
        (bad, "none", False),
        (json.dumps(GOOD), GOOD, False),
    ):
        assert one_breaks(schema, first, second, formats=False) is breaks


def test_a_sole_tool_call_is_held_to_it():
    def called(*arguments, text=""):
        return Response(text, tool_calls=tuple(ToolCall("file", each) for each in arguments))

    assert compare(called(GOOD), called(GOOD | {"total": "12"}), schema=INVOICE).reason == "json-schema"
    with pytest.raises(ConfigurationError, match="it is no JSON"):
        compare(called(GOOD, GOOD), called(GOOD), schema=INVOICE)


def test_other_relations():
    good, bad = json.dumps(GOOD), json.dumps(GOOD | {"total": "12"})
    assert compare(good, bad, schema=INVOICE, relation="language").reason == "json-schema"
    assert (
        compare(good, bad, schema=INVOICE, relation="format", requested_format="json").reason == "json-schema"
    )
    yaml = "total: 12\ndue: 2024-03-05\nstate: open\nitems:\n  - of: lamp\n    price: 3.5"
    assert (
        compare(good, yaml, schema=INVOICE, relation="format", requested_format="yaml").outcome
        == "equivalent"
    )
    assert (
        compare(good, '{"total": "x"}', schema=INVOICE, relation="must-change").reason == "must-change:json"
    )


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (3, "schema=3 is not a JSON Schema as a mapping, or the path of a JSON file, not int"),
        ({"type": "objekt"}, "schema= is no valid JSON Schema: $.type: 'objekt' is not valid"),
        ({"$schema": "https://example.org/draft"}, "is no draft of JSON Schema that is known"),
        ({"enum": [object()]}, "schema= is no JSON"),
        ({"pattern": "(" * 2_000 + ")" * 2_000}, "nested too deeply"),
        ("none.json", "there is no such file; relative paths start at"),
    ],
)  # fmt: skip
def test_a_wrong_schema_is_named(schema, said):
    with pytest.raises(UsageError) as caught:
        compare("{}", "{}", schema=schema)
    assert said in str(caught.value)


def test_a_schema_in_a_file(tmp_path):
    path = tmp_path / "invoice.json"
    path.write_text(json.dumps(INVOICE), encoding="utf-8")
    for given in (path, str(path)):
        found = compare(json.dumps(GOOD), "{}", schema=given)
        assert found.explanation.endswith("at $: 'total' is a required property (rule 'required')")
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="holds no JSON Schema but list"):
        read_schema(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read as JSON"):
        read_schema(path)


@pytest.mark.parametrize(
    "reference", ["https://example.org/item.json", "item.json", "#/$defs/none", "file:///etc/passwd"]
)
def test_nothing_is_fetched(reference, monkeypatch):
    asked = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *arguments, **_keywords: asked.append(arguments))
    with pytest.raises(ConfigurationError) as caught:
        compare("{}", "{}", schema={"$ref": reference})
    assert reference.removeprefix("#") in str(caught.value)
    assert "nothing is fetched" in str(caught.value)
    assert asked == []


def test_deep_answers_are_no_crash():
    tree = {"$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}
    deep = '{"a":' * 900 + "1" + "}" * 900
    found = compare("{}", deep, schema=tree)
    assert found.outcome == "deviation"


def test_the_library_is_loaded_for_a_schema_only():
    script = (
        "import sys; from pytest_promptfuzz import compare; compare('{\"a\": 1}', '{\"a\": 2}');"
        "print('jsonschema' in sys.modules); compare('{}', '{}', schema={}); print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
