"""What is left of a key after it was cut to fit a line is hidden too."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.storage.redaction import Redaction
from pytest_promptfuzz.storage.secrets import hide_cut


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("'use sk-p...234567890ABCD'", "'use [redacted]'"),
        ("sk-...90AB", "[redacted]"),
        ("sk-proj-abcd…", "[redacted]"),
        ("ghp_0123456789...GHIJ and AKIA...MNOP", "[redacted] and [redacted]"),
        ("keys begin with sk-... as a rule", "keys begin with sk-... as a rule"),
        ("ASIA...and then some, a task-...list", "ASIA...and then some, a task-...list"),
        ("it was hunt...vice, hunter...", "it was [redacted]...[redacted], [redacted]..."),
        ("the hun...ice was heard", "the hun...ice was heard"),
    ],
)
def test_what_is_left_of_a_key_is_hidden(text: str, hidden: str) -> None:
    assert hide_cut(text, ["hunter-of-advice"]) == hidden


def test_expressions_in_source_hold_no_secret() -> None:
    redaction = Redaction(values=("known-value-1",))
    source = (
        "    self.api_key = _client1.os.environ.get('KEY')\n    api_key=settings.production.secret_key_1)"
    )
    assert redaction.source(source) == source
    assert redaction.text(source) != source
    for secret in (
        'api_key = "abcdefgh12345"',
        "say('api_key=abcdefgh12345')",
        "api_key = sk-abcdefgh12345",
        "headers = 'Bearer abcdefgh12345'",
        "api_key = 'known-value-1'",
    ):
        hidden = redaction.source(secret)
        assert "[redacted]" in hidden
        assert "abcdefgh" not in hidden
        assert "known" not in hidden
