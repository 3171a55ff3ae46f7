"""What this process compares meaning with: the models that its run, its environment or its machine has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.entailment import CachedEntailment
from pytest_promptfuzz.embedding.entailment_models import GET_ENTAILMENT, find_entailment
from pytest_promptfuzz.embedding.models import configured, find_model
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.embedding.cross_encoder import CrossEncoder
    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.embedding.models import Model
    from pytest_promptfuzz.embedding.vectors import VectorFile


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
def entailment_of(model: Model) -> CrossEncoder | None:
    """What tells entailment with a model, the same for this process and not yet loaded; ``None`` for no model."""
    if model.folder is None:
        return None
    from pytest_promptfuzz.embedding.cross_encoder import OnnxCrossEncoder, TorchCrossEncoder

    kind = OnnxCrossEncoder if model.backend == "onnx" else TorchCrossEncoder
    return kind(model.folder, name=model.name)


@lru_cache(maxsize=8)
def _embedding(model: Model, folder: Path | None) -> CachedEmbedder | None:
    embedder = embedder_of(model)
    return None if embedder is None else CachedEmbedder(embedder, _kept(folder))


@lru_cache(maxsize=8)
def _entailing(model: Model, folder: Path | None) -> CachedEntailment | None:
    entailment = entailment_of(model)
    return None if entailment is None else CachedEntailment(entailment, _kept(folder))


def _kept(folder: Path | None) -> VectorFile | None:
    if folder is None:
        return None
    from pytest_promptfuzz.embedding.vectors import VectorFile

    return VectorFile(folder, lambda sentence: configured().warn(sentence))


def chosen_embedder() -> CachedEmbedder | None:
    """What embeds texts in this process where nothing else is given, not yet loaded; ``None`` for nothing.

    It is the model that the pytest run of this process names, or ``PROMPTFUZZ_MODEL``, or the installed one. Where the
    run compares by the embeddings of a provider, it is nothing: a provider is asked by tests only.
    """
    run = configured()
    return None if run.provider else _embedding(find_model(), run.folder)


def chosen_entailment() -> CachedEntailment | None:
    """What tells entailment in this process where nothing else is given, not yet loaded; ``None`` for nothing.

    It is the model that the pytest run of this process names, or ``PROMPTFUZZ_ENTAILMENT``, or the installed one.
    """
    return _entailing(find_entailment(), configured().folder)


def default_embedder() -> CachedEmbedder:
    """The model of this process, its vectors kept; it loads at the first text.

    Raises:
        ConfigurationError: A library or the model is missing.
    """
    model = find_model()
    embedder = _embedding(model, configured().folder)
    if embedder is None:
        raise ConfigurationError(f"answers cannot be compared by meaning: {model.mend}")
    return embedder


def default_entailment() -> CachedEntailment:
    """What tells entailment in this process, its verdicts kept; the model loads at the first pair.

    Raises:
        ConfigurationError: A library or the model is missing.
    """
    model = find_entailment()
    entailment = _entailing(model, configured().folder)
    if entailment is None:
        mend = model.mend or f"no model is installed ({GET_ENTAILMENT})"
        raise ConfigurationError(f"telling entailment is not available: {mend}")
    return entailment
