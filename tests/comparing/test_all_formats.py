"""Every pair of formats, both ways: the same content is equivalent, other content never is."""

from __future__ import annotations

from itertools import permutations

import pytest
from format_documents import ALTERED, DOCUMENTS

from pytest_promptfuzz.judging.compare import compare

PAIRS = list(permutations(("json", "yaml", "xml", "html", "markdown", "text"), 2))


def compared(baseline, response, name):
    return compare(baseline, response, relation="format", requested_format=name)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize(("one", "two"), PAIRS, ids=lambda name: name)
def test_the_same_content_is_equivalent(document, one, two):
    found = compared(DOCUMENTS[document][one], DOCUMENTS[document][two], two)
    assert found.outcome == "equivalent", found.explanation


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize(("one", "two"), PAIRS, ids=lambda name: name)
def test_other_content_is_not(document, one, two):
    written = DOCUMENTS[document][two]
    changed = [written.replace(old, new, 1) for old, new in ALTERED[document] if old in written]
    assert changed
    for each in changed:
        found = compared(DOCUMENTS[document][one], each, two)
        assert found.outcome in {"deviation", "minor", "undecided"}, each
        assert found.explanation


@pytest.mark.parametrize(
    ("baseline", "response", "name", "outcome"),
    [
        # booleans and nothing, as formats without types write them
        ("<a><ok>true</ok><n>1</n></a>", "- **Ok:** Yes\n- **N:** 1", "markdown", "equivalent"),
        ("<a><ok>true</ok><n>1</n></a>", "- **Ok:** No\n- **N:** 1", "markdown", "deviation"),
        ("<a><note></note><n>1</n></a>", "Note: none\nN: 1", "text", "equivalent"),
        ("<a><note>late</note><n>1</n></a>", "Note: none\nN: 1", "text", "deviation"),
        # many under the name of one
        ('{"cities": ["Oslo", "Rome"], "n": 1}', "<a><city>Oslo</city><city>Rome</city><n>1</n></a>", "xml", "equivalent"),
        ('{"cities": ["Oslo", "Rome"], "n": 1}', "<a><city>Oslo</city><city>Bari</city><n>1</n></a>", "xml", "deviation"),
        ('{"cities": ["Oslo", "Rome"], "n": 1}', "<a><city>Oslo</city><n>1</n></a>", "xml", "deviation"),
        ('{"boxes": ["a", "b"], "n": 1}', "<a><crate>a</crate><crate>b</crate><n>1</n></a>", "xml", "deviation"),
        ('{"class": "a", "n": 1}', "clas: a\nn: 1", "yaml", "deviation"),
        # a name before each row, and columns in another order
        ('{"name": "Ada", "age": 36}', "<table><tr><th>Name</th><td>Ada</td></tr><tr><th>Age</th><td>36</td></tr></table>", "html", "equivalent"),
        ('{"name": "Ada", "age": 36}', "<table><tr><th>Name</th><td>Ada</td></tr><tr><th>Age</th><td>63</td></tr></table>", "html", "deviation"),
        ('[{"n": "a", "p": 1}, {"n": "b", "p": 2}]', "| P | N |\n|---|---|\n| 1 | a |\n| 2 | b |", "markdown", "equivalent"),
        ('[{"n": "a", "p": 1}, {"n": "b", "p": 2}]', "| P | N |\n|---|---|\n| 2 | a |\n| 1 | b |", "markdown", "deviation"),
        # fields within fields, told by indentation alone
        ('{"a": {"b": 1, "c": {"d": 2}}}', "A:\n  B: 1\n  C:\n    D: 2", "text", "equivalent"),
        ('{"a": {"b": 1, "c": {"d": 2}}}', "A:\n  B: 1\n  C:\n    D: 3", "text", "deviation"),
        ('{"a": {"b": 1}, "d": 2}', "A:\n  B: 2\nD: 1", "text", "deviation"),
        # attributes and elements
        ('{"id": 7, "name": "lamp"}', '<item id="7"><name>lamp</name></item>', "xml", "equivalent"),
        ('{"id": 7, "name": "lamp"}', '<item id="8"><name>lamp</name></item>', "xml", "deviation"),
        # hostile
        ('{"a": 1}', '<!DOCTYPE x [<!ENTITY e "1">]><a>&e;</a>', "xml", "deviation"),
        ('{"a": 1}', "a: &x 1\nb: *x", "yaml", "deviation"),
    ],
)  # fmt: skip
def test_what_formats_write_otherwise(baseline, response, name, outcome):
    assert compared(baseline, response, name).outcome == outcome
