"""Meaning as vectors: the ``Embedder`` protocol, MiniLM through sentence-transformers, cosine."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import math
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pytest_promptfuzz.errors import ConfigurationError, unstopped

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
MAX_TOKENS = 256
"""What the model reads of a text; the rest is cut off."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. An embedder may also have ``truncates(text) -> bool``."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of one length."""
        ...


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Cosine of two vectors, clipped at 0 and 1; 0.0 where one of them is all zeros."""
    dot = math.fsum(a * b for a, b in zip(first, second, strict=True))
    norm = math.sqrt(math.fsum(a * a for a in first)) * math.sqrt(math.fsum(b * b for b in second))
    return min(1.0, max(0.0, dot / norm)) if norm else 0.0


class CachedEmbedder:
    """An embedder that embeds each text once.

    Args:
        embedder: Whose vectors are kept.
        cache: Where to; a mapping from strings to lists of floats. A dictionary of its own by default, a mapping
            over a file for vectors that outlive the process.
    """

    def __init__(self, embedder: Embedder, cache: MutableMapping[str, list[float]] | None = None) -> None:
        self._embedder = embedder
        self._cache: MutableMapping[str, list[float]] = {} if cache is None else cache

    @property
    def name(self) -> str:
        """The name of the embedder within."""
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, from the cache where it has it."""
        keys = [
            hashlib.sha256(f"{self.name}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
            for text in texts
        ]
        found = {key: self._cache.get(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            for key, fresh in zip(missing, self._embedder.embed(list(missing.values())), strict=True):
                found[key] = self._cache[key] = [float(each) for each in fresh]
        return [vector for key in keys if (vector := found[key]) is not None]

    def truncates(self, text: str) -> bool:
        """Whether the embedder within cuts the text off."""
        ask = getattr(self._embedder, "truncates", None)
        return bool(ask(text)) if callable(ask) else False


@contextlib.contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Keep the libraries below from drawing on the terminal while a model loads."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


class SentenceTransformerEmbedder:
    """``all-MiniLM-L6-v2`` through sentence-transformers, loaded at the first text.

    Args:
        model: A directory that holds the model, or the name of one downloaded before; nothing is downloaded.

    Raises:
        ConfigurationError: On the first use, where the library or the model is missing.
    """

    def __init__(self, model: str = MODEL) -> None:
        self._source = model
        self._model: Any = None

    @property
    def name(self) -> str:
        """The model's name, without the directory it was loaded from."""
        return MODEL.rpartition("/")[2] if self._source == MODEL else f"sentence-transformers:{self._source}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of 384 floats for each text."""
        vectors = self._load().encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return [[float(each) for each in vector] for vector in vectors]

    def truncates(self, text: str) -> bool:
        """Whether the text is longer than the model's 256 tokens."""
        # A token is at least one character, so that most texts need no count.
        if len(text) <= MAX_TOKENS - 2:
            return False
        model = self._load()
        limit = int(model.max_seq_length or MAX_TOKENS)
        return len(model.tokenizer(text, truncation=False, verbose=False)["input_ids"]) > limit

    def _load(self) -> Any:
        if self._model is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as problem:
                raise ConfigurationError(
                    "comparing meaning needs sentence-transformers: pip install 'pytest-promptfuzz[semantic]'"
                ) from problem
            try:
                with _no_progress_bars():
                    self._model = SentenceTransformer(self._source, device="cpu", local_files_only=True)
            except (OSError, ValueError) as problem:
                raise ConfigurationError(
                    f"the embedding model {self._source!r} cannot be loaded: {unstopped(problem)}. "
                    "Give the directory that holds it, or download it: "
                    "hf download sentence-transformers/all-MiniLM-L6-v2"
                ) from problem
        return self._model


_DEFAULTS: dict[str, CachedEmbedder] = {}


def default_embedder(model: str = MODEL) -> CachedEmbedder:
    """The process's embedder for a model, its vectors cached in memory; the model loads at the first text.

    Raises:
        ConfigurationError: sentence-transformers is not installed.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise ConfigurationError(
            "comparing meaning needs sentence-transformers: pip install 'pytest-promptfuzz[semantic]'"
        )
    if model not in _DEFAULTS:
        _DEFAULTS[model] = CachedEmbedder(SentenceTransformerEmbedder(model))
    return _DEFAULTS[model]
