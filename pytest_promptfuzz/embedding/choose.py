"""The embedder of a run: the model that this machine has, its vectors kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.models import find_model
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.embedding.models import Model

_made: dict[Model, CachedEmbedder] = {}


def embedder_of(model: Model) -> Embedder | None:
    """What embeds with a model, not yet loaded; ``None`` for no model."""
    if model.folder is None:
        return None
    if model.backend == "onnx":
        from pytest_promptfuzz.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(model.folder, name=model.name)
    from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(str(model.folder), name=model.name)


def kept_embedder(model: Model) -> CachedEmbedder:
    """The process's embedder for a model, its vectors kept in memory; the model loads at the first text.

    Raises:
        ConfigurationError: It is no model that can be used.
    """
    if model not in _made:
        embedder = embedder_of(model)
        if embedder is None:
            raise ConfigurationError(f"comparing meaning is not available: {model.mend}")
        _made[model] = CachedEmbedder(embedder)
    return _made[model]


def default_embedder() -> CachedEmbedder:
    """The process's embedder for the model that this machine has.

    Raises:
        ConfigurationError: A library or the model is missing.
    """
    return kept_embedder(find_model())
