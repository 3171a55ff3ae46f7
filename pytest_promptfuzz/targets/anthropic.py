"""Anthropic through its SDK: Messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.formats import messages
from pytest_promptfuzz.targets.sdk import SdkTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.targets.model import Request

API_VERSION = "2026-10-21"
"""Sent as ``anthropic-version`` with every request, whatever the installed SDK says by itself, so that an
update of the SDK invalidates no recording."""

# Any of these makes the SDK find credentials of its own (profiles, workload identity).
_OTHER_CREDENTIALS = ("ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID")


class AnthropicTarget(SdkTarget):
    """``anthropic:MODEL``: Messages.

    The environment is the SDK's own: ``ANTHROPIC_API_KEY`` (or ``ANTHROPIC_AUTH_TOKEN``,
    ``ANTHROPIC_PROFILE``, workload identity), ``ANTHROPIC_BASE_URL``. The API insists on ``max_tokens``: 1024
    unless the request says otherwise. System messages are lifted to ``system``.
    """

    scheme = "anthropic"
    sdk = "anthropic"
    path = "/v1" + messages.PATH
    example = "anthropic:claude-sonnet-4-5"
    key_variable = "ANTHROPIC_API_KEY"
    base_url_variable = "ANTHROPIC_BASE_URL"
    custom_headers_variable = "ANTHROPIC_CUSTOM_HEADERS"
    default_base_url = "https://api.anthropic.com"

    def _build(self, request: Request) -> dict[str, Any]:
        return messages.build_body(request, self.model)

    def _version_headers(self) -> dict[str, str]:
        return {"anthropic-version": self._custom_headers().get("anthropic-version", API_VERSION)}

    def _settings(self) -> dict[str, Any]:
        where = self.address()
        settings: dict[str, Any] = {"base_url": where.base, "default_query": dict(where.query)}
        key = self._given_key(self.key_variable)
        token = None if key else self._given_key("ANTHROPIC_AUTH_TOKEN")
        if key:
            settings["api_key"] = key
        elif token:
            settings["auth_token"] = token
        elif not any(os.environ.get(each) for each in _OTHER_CREDENTIALS):
            settings["api_key"] = self._key()
        return settings

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.messages.with_raw_response.create
        return create

    def _client(self, sdk: Any, settings: dict[str, Any], *, asynchronous: bool) -> Any:
        make = sdk.AsyncAnthropic if asynchronous else sdk.Anthropic
        return make(**settings, timeout=self.timeout)
