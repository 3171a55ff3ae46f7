"""What calls cost: the user's own prices, else those that ``genai-prices`` knows."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.wire.network import is_local

if TYPE_CHECKING:
    from collections.abc import Mapping

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    input: float
    output: float

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """US dollars for so many tokens."""
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model.

    Attributes:
        own: The user's, by a pattern of the model's name (``"gpt-5*"``); the first that matches counts.
    """

    own: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str, url: str) -> Price | None:
        """The price of a model at an address; ``None`` where it is not known.

        Args:
            model: The model as asked for.
            url: Where it is asked; ``genai-prices`` knows providers by their address.
        """
        for pattern, price in self.own.items():
            if fnmatchcase(model, pattern):
                return price
        # The list is slow to load, and knows of nobody's own machine.
        return _listed(model, url) if model and not is_local(urlsplit(url).hostname or "") else None


def missing_price(model: str, url: str) -> str:
    """What to do about a model without a price: install the list of prices, or write one.

    Args:
        model: The model as asked for.
        url: Where it is asked.
    """
    own = (
        f'rite its price into pyproject.toml, under [tool.promptfuzz.prices]: "{model}" = '
        "{ input = 0.25, output = 2.0 } (US dollars for a million tokens)."
    )
    if is_local(urlsplit(url).hostname or "") or importlib.util.find_spec("genai_prices") is not None:
        return f"W{own}"
    if sys.version_info < (3, 11):
        return f"The list of known prices (the extra 'prices') needs Python 3.11 or later. W{own}"
    return f"Install the list of known prices: pip install 'pytest-promptfuzz[prices]'. Or w{own}"


@functools.lru_cache(maxsize=256)
def _listed(model: str, url: str) -> Price | None:
    """The price that ``genai-prices`` has, if it is installed and knows the provider and the model.

    Prices that rise with the length of the prompt are taken at a thousand tokens.
    """
    try:
        library: Any = importlib.import_module("genai_prices")
    except ImportError:
        return None
    tokens = 1000
    try:
        first = library.calc_price(
            library.Usage(input_tokens=tokens, output_tokens=0), model, provider_api_url=url
        )
        second = library.calc_price(
            library.Usage(input_tokens=0, output_tokens=tokens), model, provider_api_url=url
        )
    except LookupError:
        return None
    share = MILLION / tokens
    return Price(float(first.total_price) * share, float(second.total_price) * share)
