"""How fluent a text still is: perplexity by a language model on this machine, errors by a LanguageTool server."""

from __future__ import annotations

import json
from functools import cached_property
from importlib import import_module
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from pytest_promptfuzz.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from pytest_promptfuzz.searching.quality import Measure

_WINDOW = 1024  # tokens, where a model does not say how many it takes
_SECONDS = 30


def perplexity(folder: str | Path) -> Measure:
    """A measure of texts: their perplexity by a causal language model. Lower is more fluent.

    Args:
        folder: A model as transformers saves it, with its tokenizer; weights as safetensors. Nothing is downloaded.

    Returns:
        A function of a text; the model is loaded when it is first called.

    Raises:
        UsageError: There is no such folder.
        ConfigurationError: transformers or torch is not installed.
    """
    from importlib.util import find_spec

    path = Path(folder)
    if not (path / "config.json").is_file():
        raise UsageError(
            f"perplexity: {str(folder)!r} is no folder of a model (it has no config.json). Nothing is downloaded: "
            "save a causal language model there first."
        )
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise ConfigurationError(
            "perplexity: it needs transformers and torch: pip install transformers torch."
        )
    return _Perplexity(path)


class _Perplexity:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        logging: Any = import_module("transformers.utils.logging")
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
            model: Any = AutoModelForCausalLM.from_pretrained(
                self._folder, local_files_only=True, use_safetensors=True
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"perplexity: {str(self._folder)!r} cannot be loaded: {str(error).splitlines()[0]:.200}"
            ) from None
        finally:
            if shown:
                logging.enable_progress_bar()
        model.eval()
        return tokenizer, model

    def __call__(self, text: str) -> float:
        """The perplexity of a text, over its tokens; of one longer than the model takes, window by window."""
        import torch

        tokenizer, model = self._loaded
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        if start is not None:
            tokens = [start, *tokens]
        if len(tokens) < 2:
            raise UsageError(f"perplexity: {text!r:.40} is too short to have one.")
        window = int(getattr(model.config, "max_position_embeddings", 0) or _WINDOW)
        loss = 0.0
        with torch.no_grad():
            # Each window begins with the last token of the one before, so that every token but the first is foretold.
            for begin in range(0, len(tokens) - 1, window - 1):
                part = torch.tensor([tokens[begin : begin + window]])
                foretold = torch.log_softmax(model(part).logits[0, :-1], -1)
                loss -= float(foretold.gather(1, part[0, 1:, None]).sum())
        return exp(min(loss / (len(tokens) - 1), 700.0))


def grammar_errors(server: str, language: str = "en-US") -> Measure:
    """A measure of texts: how many errors a LanguageTool server finds in them.

    Args:
        server: Its address, such as ``http://127.0.0.1:8081``. Texts are sent there and nowhere else.
        language: The texts' language, as LanguageTool calls it.

    Returns:
        A function of a text.

    Raises:
        UsageError: The address is none.
    """
    if urlsplit(server).scheme not in {"http", "https"} or not urlsplit(server).hostname:
        raise UsageError(
            f"grammar_errors: {server!r:.80} is no address of a LanguageTool server; write http://127.0.0.1:8081."
        )

    def errors(text: str) -> float:
        body = urlencode({"text": text, "language": language}).encode()
        asked = Request(f"{server.rstrip('/')}/v2/check", body)  # noqa: S310 (the scheme is checked)
        try:
            with urlopen(asked, timeout=_SECONDS) as answer:  # noqa: S310
                return float(len(json.load(answer)["matches"]))
        except (URLError, OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"grammar_errors: the LanguageTool server at {server} gave no answer that can be read "
                f"({type(error).__name__}: {error}). Start it, or leave it out."
            ) from None

    return errors
