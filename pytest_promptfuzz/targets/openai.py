"""OpenAI through its SDK: chat completions and Responses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.targets.formats import chat, responses
from pytest_promptfuzz.targets.sdk import SdkTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.targets.model import Request


# What the SDK reads beside the key.
_ACCOUNT = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}


class OpenAITarget(SdkTarget):
    """``openai:MODEL``: chat completions.

    The environment is the SDK's own: ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``.
    """

    scheme = "openai"
    sdk = "openai"
    path = chat.PATH
    example = "openai:gpt-5-mini"
    key_variable = "OPENAI_API_KEY"
    base_url_variable = "OPENAI_BASE_URL"
    custom_headers_variable = "OPENAI_CUSTOM_HEADERS"
    default_base_url = "https://api.openai.com/v1"

    def _build(self, request: Request) -> dict[str, Any]:
        return chat.build_body(request, self.model)

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.chat.completions.with_raw_response.create
        return create

    def _sdk_headers(self, settings: dict[str, Any]) -> dict[str, str] | None:
        headers = {
            "authorization": f"Bearer {settings['api_key']}",
            "accept": "application/json",
            "content-type": "application/json",
            "user-agent": "pytest-promptfuzz",
        }
        for header, variable in _ACCOUNT.items():
            if os.environ.get(variable):
                headers[header] = os.environ[variable]
        own = settings.get("default_headers", {})
        return headers | self._custom_headers() | {name.lower(): value for name, value in own.items()}

    def _client(self, sdk: Any, settings: dict[str, Any], *, asynchronous: bool) -> Any:
        make = sdk.AsyncOpenAI if asynchronous else sdk.OpenAI
        return make(**settings, timeout=self.timeout)


class OpenAIResponsesTarget(OpenAITarget):
    """``openai-responses:MODEL``: the Responses API; otherwise as ``OpenAITarget``."""

    scheme = "openai-responses"
    path = responses.PATH
    example = "openai-responses:gpt-5-mini"

    def _build(self, request: Request) -> dict[str, Any]:
        return responses.build_body(request, self.model)

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.responses.with_raw_response.create
        return create
