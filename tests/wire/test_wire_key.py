from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.answers import exchange_key, request_difference, request_digest
from pytest_promptfuzz.storage.redaction import Redaction
from pytest_promptfuzz.text.json_paths import json_diff, parse_path, without

URL = "https://api.openai.com/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0, "stream": False}


def digest(url: str = URL, body: dict | None = None, headers: dict | None = None, **options: object) -> str:
    return request_digest(WireRequest(url, BODY if body is None else body, headers or {}), **options)


def shuffled(value: object) -> object:
    if isinstance(value, dict):
        return {name: shuffled(each) for name, each in reversed(value.items())}
    return [shuffled(each) for each in value] if isinstance(value, list) else value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
BODIES = st.dictionaries(st.text(max_size=6), JSON, max_size=4)


@given(BODIES)
def test_the_order_of_keys_does_not_count(body: dict) -> None:
    assert digest(body=body) == digest(body=shuffled(body))


@given(BODIES, BODIES)
def test_different_bodies_have_different_digests(left: dict, right: dict) -> None:
    assume(json.dumps(left, sort_keys=True) != json.dumps(right, sort_keys=True))
    assert digest(body=left) != digest(body=right)


@given(BODIES, BODIES)
def test_differing_paths_are_empty_for_equal_values_only(left: dict, right: dict) -> None:
    assert json_diff(left, copy.deepcopy(left), exact=True) == []
    assert bool(json_diff(left, right, exact=True)) == (
        json.dumps(left, sort_keys=True) != json.dumps(right, sort_keys=True)
    )


@pytest.mark.parametrize("name", [*sorted(BODY), "user", "metadata", "store", "seed"])
def test_every_key_of_the_body_counts(name: str) -> None:
    assert digest(body={**BODY, name: "other"}) != digest()


@pytest.mark.parametrize(
    "url",
    [
        "HTTPS://API.openai.COM:443/v1/chat/completions",
        "https://user:secret@api.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/chat/completions?api-key=0123",
        "https://api.openai.com/v1/chat/completions#part",
    ],
)
def test_what_is_secret_or_spelling_in_a_url_does_not_count(url: str) -> None:
    assert digest(url=url) == digest()


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1/chat/completions",
        "https://api.openai.com:8443/v1/chat/completions",
        "https://eu.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/responses",
        "https://api.openai.com/v1/chat/completions?api-version=2",
    ],
)
def test_another_place_counts(url: str) -> None:
    assert digest(url=url) != digest()


@pytest.mark.parametrize("name", ["Anthropic-Version", "anthropic-beta", "OpenAI-Beta"])
def test_protocol_headers_count_in_any_case(name: str) -> None:
    assert digest(headers={name: "x"}) != digest()
    assert digest(headers={name: "x"}) == digest(headers={name.upper(): " x "})


@pytest.mark.parametrize(
    "name", ["authorization", "x-api-key", "user-agent", "x-stainless-retry-count", "accept"]
)
def test_other_headers_do_not_count(name: str) -> None:
    assert digest(headers={name: "x"}) == digest()


def test_the_redacted_request_is_what_is_hashed() -> None:
    one = {**BODY, "user": "sk-proj-Ab12Cd34Ef56"}
    two = {**BODY, "user": "sk-proj-Zz99Yy88Xx77"}
    assert digest(body=one) == digest(body=two)
    mail = Redaction(patterns=(r"\S+@\S+",))
    assert digest(body={**BODY, "user": "a@b.c"}, redaction=mail) == digest(
        body={**BODY, "user": "d@e.f"}, redaction=mail
    )


def test_the_backend_counts() -> None:
    assert digest(backend="simulated-1") != digest()


def test_ignored_paths_do_not_count() -> None:
    one = {
        **BODY,
        "metadata": {"id": "1", "kept": "k"},
        "messages": [{"role": "user", "content": "Hi", "id": 1}],
    }
    two = {
        **BODY,
        "metadata": {"id": "2", "kept": "k"},
        "messages": [{"role": "user", "content": "Hi", "id": 2}],
    }
    ignore = ("$.metadata.id", "$.messages[*].id")
    assert digest(body=one, ignore=ignore) == digest(body=two, ignore=ignore)
    assert digest(body=one, ignore=ignore[:1]) != digest(body=two, ignore=ignore[:1])
    left, right = (WireRequest(URL, each) for each in (one, two))
    assert request_difference(left, right) == ["$.body.messages[0].id", "$.body.metadata.id"]
    assert request_difference(left, right, ignore=ignore) == []


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.a.b", (("key", "a"), ("key", "b"))),
        ("$.a[0][12]", (("key", "a"), ("index", 0), ("index", 12))),
        ("$.a[*].id", (("key", "a"), ("every", "*"), ("key", "id"))),
        ('$["odd name"].x', (("key", "odd name"), ("key", "x"))),
        ("$['a.b']", (("key", "a.b"),)),
        ('$["*"]', (("key", "*"),)),
    ],
)
def test_paths_are_read(path: str, steps: tuple) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize("path", ["", "$", "a.b", "$.", "$.a[", "$.a[x]", "$..a", "$.a b", 3, ["$.a"]])
def test_a_bad_path_is_named(path: object) -> None:
    with pytest.raises(UsageError, match=r"^ignore=") as caught:
        parse_path(path)
    assert repr(path) in str(caught.value)


def test_without_leaves_the_original_alone() -> None:
    value = {"a": [{"id": 1, "x": 2}, {"id": 3}], "b": 1}
    kept = copy.deepcopy(value)
    assert without(value, ["$.a[*].id"]) == {"a": [{"x": 2}, {}], "b": 1}
    assert without(value, ["$.a[1]"]) == {"a": [{"id": 1, "x": 2}, None], "b": 1}
    assert without(value, ["$.b.deeper"]) == value
    assert value == kept


def test_the_digest_is_the_same_in_every_process() -> None:
    program = (
        "from pytest_promptfuzz.providers.requests import WireRequest as W\n"
        "from pytest_promptfuzz.storage.answers import request_digest as d\n"
        f"print(d(W({URL!r}, {BODY!r}, {{}})))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {digest()}
    assert exchange_key(digest(), 1, 2) == f"{digest()}-1-2"
