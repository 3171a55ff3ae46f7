"""An embedding model through sentence-transformers, and so through torch."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.embedding.models import MAX_TOKENS, MINILM, SEMANTIC_EXTRA, stamp_of
from pytest_promptfuzz.errors import ConfigurationError, unstopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODEL = f"sentence-transformers/{MINILM}"
_WEIGHTS = {".safetensors", ".bin"}


@contextlib.contextmanager
def no_progress_bars() -> Iterator[None]:
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
        name: What it is called, instead of after its directory.

    Raises:
        ConfigurationError: On the first use, where the library or the model is missing.
    """

    def __init__(self, model: str = MODEL, *, name: str | None = None) -> None:
        self._source = model
        self._name = name or (MINILM if model == MODEL else f"sentence-transformers:{model}")
        self._model: Any = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def stamp(self) -> str:
        """Which copy of the model it is, told from its files without reading them."""
        files = Path(self._source).glob("*")
        return f"torch {stamp_of(each for each in files if each.suffix in _WEIGHTS)}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, of 384 floats where the model is MiniLM."""
        vectors = self.load().encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return [[float(each) for each in vector] for vector in vectors]

    def truncates(self, text: str) -> bool:
        """Whether the text is longer than what the model reads, of MiniLM 256 tokens."""
        # A token is at least one character, so that most texts need no count.
        if len(text) <= MAX_TOKENS - 2:
            return False
        model = self.load()
        limit = int(model.max_seq_length or MAX_TOKENS)
        return len(model.tokenizer(text, truncation=False, verbose=False)["input_ids"]) > limit

    def load(self) -> Any:
        """The ``SentenceTransformer``, loaded once."""
        if self._model is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as problem:
                raise ConfigurationError(
                    f"comparing meaning by {self._source} needs sentence-transformers: {SEMANTIC_EXTRA}"
                ) from problem
            try:
                with no_progress_bars():
                    self._model = SentenceTransformer(self._source, device="cpu", local_files_only=True)
            except (OSError, ValueError) as problem:
                raise ConfigurationError(
                    f"the embedding model {self._source!r} cannot be loaded: {unstopped(problem)}. "
                    "Give the directory that holds it, or download it: "
                    "hf download sentence-transformers/all-MiniLM-L6-v2"
                ) from problem
        return self._model
