from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.providers.requests import WireRequest
from pytest_promptfuzz.storage.answers import request_digest
from pytest_promptfuzz.storage.redaction import DEFAULT, Redaction, credentials, redact_text
from pytest_promptfuzz.storage.secrets import HIDDEN, of_environment, secrets_in

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
    # What an answer repeats of its request is hidden as there.
    assert Redaction().json(body, names=False) == {**body, "metadata": {"password": HIDDEN}}


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


INNOCENT = [
    {"max_tokens": 4096, "max_completion_tokens": 12, "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    {
        "token_type": "bearer",
        "tokens": 12,
        "pad_token": "<pad>",
        "stop_token": "</s>",
        "next_page_token": "CAUQAA1234567890abcd",
    },
    {"logprobs": {"content": [{"token": "Hello", "top_logprobs": [{"token": " world", "bytes": [32]}]}]}},
    {
        "prompt_cache_key": "tenant-7f3a9b2c4d5e6f70",
        "idempotency_key": "7f3a9b2c4d5e6f70",
        "key": "C4",
        "public_key": "n",
    },
    {"type": "thinking", "thinking": "…", "signature": "EqQBCkYIBBgCKkD5x0Zq0123456789abcdefABCDEF=="},
    {"properties": {"password": {"type": "string", "minLength": 8}}, "required": ["password", "token"]},
    {"authorization_required": True, "secret": None, "password": {"type": "string"}, "user": "jane"},
    "password must have 8 characters, and the token is expired",
    "The secret is 42. Password: at least 12 characters; api_key=api_key, token=get_token(user1)",
    "Use sk-learn, basic authentication, and https://docs.example/a?page=2&key=name#token=x",
    "mailto:jane@example.com at 12:30:45, http://localhost:8080/a@b, SELECT token FROM t WHERE key = 'a1'",
    "commit 5d41402abc4b2a76b9719d911017c592 with id 550e8400-e29b-41d4-a716-446655440000",
    "sk_learn_pipeline_2024_version_final = hf_transformers_library_2(npm_config_registry_2_fallback_url)",
    "gsk_glaxosmithkline_annual_report_2023.pdf, co_authored_by_2_people_in_2024, phx_to_lax_flight_2024_09_12",
    "a basic covid-19 course, the basic python3.12 image, basic understanding-of-20-things",
    "密码：必须至少8个字符 and ENV NODE_VERSION 20.11.1",
    {"table": {"headers": [{"name": "Amount", "value": "12.50 EUR"}]}, "credentials": {"type": "user"}},
    {"tools": [{"type": "mcp", "headers": [{"name": "Accept", "value": "application/json"}]}]},
]


@pytest.mark.parametrize("names", [True, False], ids=["asked", "answered"])
@pytest.mark.parametrize("value", INNOCENT, ids=lambda value: str(value)[:30])
def test_innocents_are_untouched(value: object, names: bool) -> None:
    assert Redaction().json(value, names=names) == value
    assert list(secrets_in(value, asked=names)) == []


RANDOM = "Zk8qPw3vTn6RbX1yLm4J"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        (
            {"tools": [{"type": "mcp", "headers": [{"name": "X-Team", "value": "plain-words"}]}]},
            "plain-words",
        ),
        ({"extra_headers": [{"name": "Authorization", "value": "some words"}]}, "some words"),
        ({"api_keys": {"search": RANDOM}}, RANDOM),
        (
            {"data_sources": [{"parameters": {"authentication": {"key": "of some plain words"}}}]},
            "of some plain words",
        ),
        ({"user_password": "correct horse battery staple"}, "correct horse battery staple"),
        ({"credentials": {"search": RANDOM}}, RANDOM),
        (f"FROM python\nENV SEARCH_API_KEY {RANDOM}\n", RANDOM),
        (f'let api_key: &str = "{RANDOM}";', RANDOM),
        ("密码：Hx7kQz9pLw12", "Hx7kQz9pLw12"),
        ("key-3ax6xnjp29jd6fds4gc373sgvjxteol0", "3ax6xnjp29jd6fds4gc373sgvjxteol0"),
        ("Authorization: Basic Zm9vYmFy1234", "Zm9vYmFy1234"),
        ("say Basic bWU6T3Blbi1TZXNhbWUx to it", "bWU6T3Blbi1TZXNhbWUx"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_credentials_that_are_told_by_what_is_around_them(value: object, secret: str) -> None:
    hidden = Redaction().json(value)
    assert secret not in json.dumps(hidden, ensure_ascii=False)
    assert Redaction().json(hidden) == hidden
    assert list(secrets_in(value)) != []
    assert list(secrets_in(hidden)) == []


@pytest.mark.parametrize("wrapped", [False, True], ids=["whole", "in an event"])
def test_what_an_answer_repeats_of_its_request_is_hidden_as_there(wrapped: bool) -> None:
    answer = {
        "metadata": {"client_secret": "plain-words", "topic": "billing"},
        "tools": [{"type": "mcp", "server_url": f"https://mcp.example/{RANDOM}/sse"}],
        "output": [{"arguments": {"password": "plain-words", "server_url": f"https://mcp.example/{RANDOM}"}}],
    }
    said = {"response": answer} if wrapped else answer
    hidden = Redaction().json(said, names=False)
    shown = hidden["response"] if wrapped else hidden
    assert shown["metadata"] == {"client_secret": HIDDEN, "topic": "billing"}
    assert shown["tools"] == [{"type": "mcp", "server_url": HIDDEN}]
    assert shown["output"] == answer["output"]
    assert list(secrets_in(hidden, asked=False)) == []


WORDS = st.sampled_from(
    [
        "max",
        "token",
        "tokens",
        "key",
        "type",
        "password",
        "must",
        "have",
        "secret",
        "prompt",
        "is",
        "the",
        "8",
        "12",
        "=",
        ":",
        "page",
        ".",
        "user",
        "at",
    ]
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_prose_about_credentials_is_untouched(text: str) -> None:
    assert redact_text(text) == text


NAMES = [
    "token",
    "sessionToken",
    "user_password",
    "api_secret",
    "authorization",
    "x",
    "key",
    "note",
    "connection_string",
]
PIECES = st.sampled_from(
    [
        *SECRETS,
        "Ab3dEf6hIj9kLm2nOp5q",
        "hunter2hunter",
        "token=",
        "?sig=",
        "postgres://a:b4c5@h ",
        "password: ",
        "Bearer ",
        "a b",
        ";Pwd=",
    ]
)
TEXTS = st.lists(PIECES, max_size=5).map("".join)
BODIES = st.recursive(
    TEXTS | st.integers(),
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=10,
)


@given(BODIES, st.booleans())
def test_what_is_hidden_and_what_a_check_refuses_are_one_list(value: object, asked: bool) -> None:
    hidden = Redaction().json(value, names=asked)
    assert list(secrets_in(hidden, asked=asked)) == []
    assert (list(secrets_in(value, asked=asked)) != []) == (hidden != value)
    assert Redaction().json(hidden, names=asked) == hidden


def test_a_key_after_a_long_value_and_an_equals_sign_is_hidden() -> None:
    key = "sk-proj-Ab12Cd34Ef56"
    hidden = redact_text(f"{key * 3}token={key}")
    assert hidden == "[redacted]=[redacted]"
    assert list(secrets_in(hidden)) == []


@given(BODIES)
def test_a_secret_is_no_part_of_a_key_and_all_else_is(value: object) -> None:
    def key(token: str, said: str, **more: object) -> str:
        tools = [
            {"type": "mcp", "server_url": f"https://m.example/?token={token}1", "headers": {"X-A": token}}
        ]
        return request_digest(
            WireRequest(
                f"https://h.example/v1?sas={token}",
                {"v": value, "said": said, "session_token": token, "tools": tools, **more},
            )
        )

    one = key("Ab3dEf6hIj9kLm2nOp5q", "hello")
    assert one == key("Zz9yXx8wVv7uTt6sRr5q", "hello")
    assert (
        len({one, key("Ab3dEf6hIj9kLm2nOp5q", "hallo"), key("Ab3dEf6hIj9kLm2nOp5q", "hello", page_token="b")})
        == 3
    )


def test_encoded_forms_of_a_known_value_are_hidden() -> None:
    redaction = Redaction(values=("pa/ss+word 1",))
    for form in ("pa/ss+word 1", "pa%2Fss%2Bword%201", "pa%2Fss%2Bword+1", "cGEvc3Mrd29yZCAx"):
        assert redaction.text(f"<{form}>") == "<[redacted]>"
    assert "me:Open-Sesame" in credentials({"authorization": "Basic bWU6T3Blbi1TZXNhbWU="})
    assert "Open-Sesame" in credentials({"authorization": "Basic bWU6T3Blbi1TZXNhbWU="})


def test_the_environments_credentials_are_those_that_look_like_one() -> None:
    environment = {
        "BILLING_KEY": "e9Nv1r0nM3nt-Qw7Er5Ty3",
        "CI_TOKEN": "production",
        "SSH_KEY": "/home/me/.ssh/id_ed25519_0123456789",
        "PATH": "e9Nv1r0nM3nt-Qw7Er5Ty4",
    }
    assert of_environment(environment) == ("e9Nv1r0nM3nt-Qw7Er5Ty3",)
