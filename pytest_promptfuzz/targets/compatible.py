"""Any server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, Azure, a gateway."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.targets.openai import OpenAITarget

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.addresses import Address

_NAME = re.compile(r"(?P<model>[^@].*?)@(?P<url>[a-z][a-z0-9+.-]*://.*)", re.IGNORECASE | re.DOTALL)


class CompatibleTarget(OpenAITarget):
    """``compatible:MODEL@BASE_URL``: chat completions of another server, through OpenAI's SDK.

    Examples: ``compatible:llama3.2@http://localhost:11434/v1`` (Ollama),
    ``compatible:my-deployment@https://NAME.openai.azure.com/openai/v1`` (Azure).

    The key is optional: ``api_key=``, else ``PROMPTFUZZ_API_KEY``, else for hosts under ``azure.com``
    ``AZURE_OPENAI_API_KEY``. ``OPENAI_API_KEY`` is never sent to another host. The base URL may carry Azure's
    ``?api-version=...``.
    """

    scheme = "compatible"
    example = "compatible:llama3.2@http://localhost:11434/v1"
    key_variable = "PROMPTFUZZ_API_KEY"

    def __init__(self, model: str, *, base_url: str, **options: Any) -> None:
        super().__init__(model, base_url=base_url, **options)

    @classmethod
    def from_name(cls, name: str, **options: Any) -> CompatibleTarget:
        """The target that ``compatible:MODEL@BASE_URL`` means.

        Options are those of the class; ``base_url=`` may stand in for the part after ``@``.

        Raises:
            UsageError: If the model or the URL is missing.
        """
        rest = name.partition(":")[2]
        found = _NAME.fullmatch(rest)
        if found:
            return cls(found["model"], **{"base_url": found["url"], **options})
        if rest and not rest.startswith("@") and options.get("base_url"):
            return cls(rest, **options)
        msg = f"Target 'compatible' needs a model and a base URL. Write {cls.example!r}."
        raise UsageError(msg)

    @property
    def name(self) -> str:
        """How the target is named in options and reports, ``compatible:MODEL@BASE_URL``."""
        return f"compatible:{self.model}@{self.address()}"

    def _settings(self) -> dict[str, Any]:
        where = self.address()
        settings: dict[str, Any] = {"base_url": where.base, "default_query": dict(where.query)}
        azure = _is_azure(where)
        key = self._given_key(self.key_variable, *(["AZURE_OPENAI_API_KEY"] if azure else []))
        # The SDK insists on a key; servers without one ignore it.
        settings["api_key"] = key or "not-needed"
        if key and azure:
            # Azure takes a resource's key in a header of its own.
            settings["default_headers"] = {"api-key": key}
        return settings


def _is_azure(where: Address) -> bool:
    return where.host.endswith(".azure.com")
