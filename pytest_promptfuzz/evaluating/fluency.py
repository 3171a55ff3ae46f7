"""How fluent a text still is: perplexity by a language model, errors of grammar by a checker, both of the user's."""

from __future__ import annotations

import json
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from pytest_promptfuzz.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from pytest_promptfuzz.searching.search_result import Measure

_WINDOW = 1024  # tokens, where a model does not say how many it takes
_SECONDS = 30
_MOST = 700.0  # more would be no number
_SERVED = "compatible:"
_FORCED = 1000  # added to a token's logit, so that it is the next one; its probability is told without this
HARPER = "harper"


def perplexity(folder: str | Path) -> Measure:
    """A measure of texts: their perplexity by a causal language model. Lower is more fluent.

    Args:
        folder: That of a model as transformers saves it, with its tokenizer; weights as safetensors. Or the name of a
            served one, ``compatible:MODEL@http://127.0.0.1:8080/v1``: a server that gives the log-probabilities of
            a prompt's tokens (vLLM), or llama.cpp's. Nothing is downloaded.

    Returns:
        A function of a text; the model is loaded or asked when it is first called, and asked once for each text.

    Raises:
        UsageError: There is no such folder, or the name is none of a served model.
        ConfigurationError: transformers or torch is not installed.
    """
    if isinstance(folder, str) and folder.startswith(_SERVED):
        return _ServedModel(folder)
    path = Path(folder)
    if not (path / "config.json").is_file():
        raise UsageError(
            f"perplexity: {str(folder)!r} is no folder of a model (it has no config.json). Nothing is downloaded: save "
            f"a causal language model there first, or name a server, {_SERVED}MODEL@http://127.0.0.1:8080/v1."
        )
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise ConfigurationError(
            "perplexity: it needs transformers and torch: pip install transformers torch."
        )
    return _SavedModel(path)


class _ServedModel:
    """Perplexity by a served model: over all of a text's tokens but the first, which nothing comes before.

    A model with a token for the beginning of a text has that one first.
    """

    def __init__(self, name: str) -> None:
        model, at, url = name.removeprefix(_SERVED).partition("@")
        if not model or not at or not _is_address(url):
            raise UsageError(
                f"perplexity: {name!r:.120} is not {_SERVED}MODEL@URL. Write the URL with its /v1."
            )
        self._name, self._model, self._url = name, model, url.rstrip("/")
        self._known: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        """The perplexity of a text.

        Raises:
            UsageError: It has fewer than two tokens.
            ConfigurationError: The server does not answer, or does not tell what is needed.
        """
        if text not in self._known:
            logs = self._echoed(text)
            if logs is None:
                logs = self._token_by_token(text)
            if not logs:
                raise UsageError(f"perplexity: {text!r:.40} is too short to have one.")
            self._known[text] = exp(min(-sum(logs) / len(logs), _MOST))
        return self._known[text]

    def _echoed(self, text: str) -> list[float] | None:
        """The log-probabilities of a text that a server repeats with its answer; ``None`` where it does not."""
        body = {
            "model": self._model,
            "prompt": text,
            "echo": True,
            "logprobs": 1,
            "max_tokens": 1,
            "temperature": 0,
        }
        answer = self._asked(f"{self._url}/completions", body)
        try:
            told = answer["choices"][0]["logprobs"]
            logs, offsets = told["token_logprobs"], told["text_offset"]
            if offsets[0] != 0:
                return None  # it tells of its answer alone
            return [
                float(log)
                for log, at in zip(logs, offsets, strict=True)
                if at < len(text) and log is not None
            ]
        except (LookupError, TypeError, ValueError):
            return None

    def _token_by_token(self, text: str) -> list[float]:
        """The same from llama.cpp, which tells it of the tokens that it makes."""
        root = self._url.removesuffix("/v1")
        try:
            tokens = self._asked(f"{root}/tokenize", {"content": text, "add_special": True})["tokens"]
            return [self._next(root, tokens[:at], tokens[at]) for at in range(1, len(tokens))]
        except (LookupError, TypeError, ValueError) as error:
            raise ConfigurationError(
                f"perplexity: the server of {self._name} does not tell the log-probabilities of a prompt's tokens "
                f"({type(error).__name__}: {error}). vLLM and llama.cpp do."
            ) from None

    def _next(self, root: str, tokens: list[int], following: int) -> float:
        """The log-probability of a token after others: it is made the next one, and told as it was before that."""
        body = {
            "prompt": tokens,
            "n_predict": 1,
            "n_probs": 1,
            "temperature": 0,
            "logit_bias": [[following, _FORCED]],
            "cache_prompt": True,
        }
        told = self._asked(f"{root}/completion", body)["completion_probabilities"][0]
        if told["id"] != following:
            raise ValueError("it does not follow logit_bias")
        return float(told["logprob"])

    def _asked(self, url: str, body: dict[str, Any]) -> Any:
        asked = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310 (the scheme is checked)
        try:
            with urlopen(asked, timeout=_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except (URLError, OSError, ValueError) as error:
            raise ConfigurationError(
                f"perplexity: {url} gave no answer that can be read ({type(error).__name__}: {error}). Start the "
                "server, or leave it out."
            ) from None


def _is_address(url: str) -> bool:
    return urlsplit(url).scheme in {"http", "https"} and bool(urlsplit(url).hostname)


class _SavedModel:
    """Perplexity by a model that transformers saved."""

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
        return exp(min(loss / (len(tokens) - 1), _MOST))


def grammar_errors(server: str, language: str = "en-US") -> Measure:
    """A measure of texts: how many errors a checker of grammar and spelling finds in them.

    Args:
        server: The address of a LanguageTool server, such as ``http://127.0.0.1:8081``; texts are sent there and
            nowhere else. Or ``harper``: the package harper-py, which checks English in this process.
        language: The texts' language, as LanguageTool calls it.

    Returns:
        A function of a text.

    Raises:
        UsageError: The address is none, or the language is not Harper's.
        ConfigurationError: harper-py is not installed.
    """
    if server == HARPER:
        return _harper_errors(language)
    if not _is_address(server):
        raise UsageError(
            f"grammar_errors: {server!r:.80} is no address of a LanguageTool server; write http://127.0.0.1:8081, or "
            f"{HARPER!r} for the package harper-py."
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


def _harper_errors(language: str) -> Measure:
    if language.partition("-")[0] != "en":
        raise UsageError(f"grammar_errors: Harper checks English only, not {language!r:.40}.")
    linter: Any = getattr(import_module(HARPER) if find_spec(HARPER) else None, "Linter", None)
    if linter is None:  # another package of this name has none
        raise ConfigurationError(
            "grammar_errors: 'harper' needs the package harper-py: pip install harper-py."
        )
    checker = linter()  # loads its dictionary once

    def errors(text: str) -> float:
        return float(len(checker.lint(text)))

    return errors
