from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.redact import DEFAULT, HIDDEN, Redaction, credentials, redact_text

SECRETS = [
    "sk-proj-Ab12Cd34Ef56",
    "sk-ant-api03-AAAA_bbbb-cccc",
    "sk-planted-secret",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "AKIAIOSFODNN7EXAMPLE",
    "gsk_0123456789abcdefghij",
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x.c2lnbmF0dXJl",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "key={}.", 'He said "{}", twice', "a\n{}\nb", "({})", "x:{},"])
def test_what_looks_like_a_key_is_hidden(secret: str, around: str) -> None:
    shown = redact_text(around.format(secret))
    assert secret not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted]"),
        ("x-api-key: 0123456789ab", "x-api-key: [redacted]"),
        ('{"api_key": "0123456789ab"}', '{"api_key": "[redacted]"}'),
        ("Basic dXNlcjpwYXNzd29yZDE=", "Basic [redacted]"),
    ],
)
def test_a_named_credential_keeps_its_name(text: str, shown: str) -> None:
    assert redact_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Use bearer authentication, please.",
        "Use sk-learn for this task.",
        "basic understanding of the API key concept",
        "Classify the ticket as POSITIVE, NEGATIVE or NEUTRAL.",
        "The risk-averse and task-oriented desk-bound clerk",
        "The api key is described below.",
    ],
)
def test_ordinary_prompts_are_untouched(text: str) -> None:
    assert redact_text(text) == text


def test_configured_patterns_and_values() -> None:
    redaction = Redaction(patterns=(r"ACME-\d+",)).with_values(("hunter2-hunter2", "short"))
    assert redaction.text("ACME-1234 hunter2-hunter2 short") == "[redacted] [redacted] short"


@pytest.mark.parametrize(
    ("pattern", "said"), [("(", "not a regular expression"), ("a*", "matches the empty text")]
)
def test_a_bad_pattern_is_named(pattern: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        Redaction(patterns=(pattern,))
    assert repr(pattern) in str(caught.value)


def test_headers() -> None:
    shown = DEFAULT.headers(
        {
            "Authorization": "Bearer x",
            "X-Api-Key": "y",
            "Cookie": "a=b",
            "X-Amz-Security-Token": "t",
            "Accept": "a/b",
        }
    )
    assert shown == {
        "authorization": HIDDEN,
        "x-api-key": HIDDEN,
        "cookie": HIDDEN,
        "x-amz-security-token": HIDDEN,
        "accept": "a/b",
    }


def test_credentials_come_bare() -> None:
    headers = {"authorization": "Bearer tok", "cookie": "sid=abc; theme=dark", "accept": "x"}
    found = credentials(headers, "https://me:p%40ss@host/v1?api_key=k1&alt=sse")
    assert set(found) == {"Bearer tok", "tok", "sid=abc; theme=dark", "abc", "dark", "p@ss", "k1"}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "HTTPS://User:Pw@API.OpenAI.com:443/v1/x?b=2&a=1&api_key=k#frag",
            "https://api.openai.com/v1/x?a=1&b=2",
        ),
        ("http://localhost:11434/v1/x", "http://localhost:11434/v1/x"),
        ("https://g.example/v1/x?key=AIza&alt=sse", "https://g.example/v1/x?alt=sse"),
        ("https://[::1]:8080/v1", "https://[::1]:8080/v1"),
        ("https://h.example/sk-proj-Ab12Cd34Ef56/chat", "https://h.example/[redacted]/chat"),
        (
            "promptfuzz://simulated/simulated-1?noise=0.2&seed=3",
            "promptfuzz://simulated/simulated-1?noise=0.2&seed=3",
        ),
    ],
)
def test_urls(url: str, shown: str) -> None:
    assert Redaction().url(url) == shown


def test_texts_under_secret_names_are_hidden_in_requests_only() -> None:
    body = {
        "api_key": "k",
        "metadata": {"password": "p"},
        "tools": [{"password": {"type": "string"}}],
        "token": "t",
    }
    assert Redaction().json(body) == {
        "api_key": HIDDEN,
        "metadata": {"password": HIDDEN},
        "tools": [{"password": {"type": "string"}}],
        "token": "t",
    }
    assert Redaction().json(body, names=False) == body


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from(SECRETS))
def test_no_secret_survives_anywhere_in_json(value: object, secret: str) -> None:
    planted = {"deep": [value, {"say": f"my key is {secret}!", secret: value}]}
    hidden = Redaction().json(planted)
    assert secret not in json.dumps(hidden)
    assert Redaction().json(hidden) == hidden, "redaction is idempotent"


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="-_"), max_size=200))
def test_redaction_is_idempotent(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)


def test_a_private_key_that_is_cut_off_is_hidden_to_the_end() -> None:
    cut = "see -----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\nIB9x"
    assert redact_text(cut) == "see [redacted]"
    assert redact_text(cut + "\n-----END EC PRIVATE KEY----- and more") == "see [redacted] and more"
