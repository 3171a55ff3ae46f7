"""The embedder of a run: the model that this machine has, its vectors kept."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.models import find_model
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.embedding.models import Model


@lru_cache(maxsize=8)
def embedder_of(model: Model) -> Embedder | None:
    """What embeds with a model, the same for this process and not yet loaded; ``None`` for no model."""
    if model.folder is None:
        return None
    if model.backend == "onnx":
        from pytest_promptfuzz.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(model.folder, name=model.name)
    from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(str(model.folder), name=model.name)


@lru_cache(maxsize=8)
def _in_memory(model: Model) -> CachedEmbedder:
    embedder = embedder_of(model)
    if embedder is None:
        raise ConfigurationError(f"comparing meaning is not available: {model.mend}")
    return CachedEmbedder(embedder)


def default_embedder() -> CachedEmbedder:
    """The process's embedder, its vectors kept in memory; the model loads at the first text.

    Raises:
        ConfigurationError: A library or the model is missing.
    """
    return _in_memory(find_model())
