"""What this process compares meaning with: the models that its run, its environment or its machine has."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.embedder import CachedEmbedder
from pytest_promptfuzz.embedding.entailment import CachedEntailment
from pytest_promptfuzz.embedding.entailment_models import ENTAILMENT_VARIABLE, GET_ENTAILMENT, find_entailment
from pytest_promptfuzz.embedding.models import (
    FOLDER_VARIABLE,
    MODEL_VARIABLE,
    configured,
    find_model,
    model_folder,
)
from pytest_promptfuzz.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.embedding.cross_encoder import CrossEncoder
    from pytest_promptfuzz.embedding.embedder import Embedder
    from pytest_promptfuzz.embedding.models import Configured, Model
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


_VARIABLES = (
    MODEL_VARIABLE,
    ENTAILMENT_VARIABLE,
    FOLDER_VARIABLE,
    "HF_HUB_CACHE",
    "HF_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "HOME",
)


def _where() -> tuple[tuple[str | None, ...], int]:
    """What a model is found by: it is asked for each pair, and looked for again only where this has changed."""
    variables = tuple(map(os.environ.get, _VARIABLES))
    try:
        return variables, _installed_in(variables).stat().st_mtime_ns
    except OSError:
        return variables, 0


@lru_cache(maxsize=8)
def _installed_in(_variables: tuple[str | None, ...]) -> Path:
    return model_folder()


@lru_cache(maxsize=8)
def _found_model(_variables: tuple[str | None, ...], _changed: int, _run: Configured) -> Model:
    return find_model()


@lru_cache(maxsize=8)
def _found_entailment(_variables: tuple[str | None, ...], _changed: int, _run: Configured) -> Model:
    return find_entailment()


def chosen_embedder() -> CachedEmbedder | None:
    """What embeds texts in this process where nothing else is given, not yet loaded; ``None`` for nothing.

    It is the model that the pytest run of this process names, or ``PROMPTFUZZ_MODEL``, or the installed one. Where the
    run compares by the embeddings of a provider, it is nothing: a provider is asked by tests only.
    """
    run = configured()
    return None if run.provider else _embedding(_found_model(*_where(), run), run.folder)


def chosen_entailment() -> CachedEntailment | None:
    """What tells entailment in this process where nothing else is given, not yet loaded; ``None`` for nothing.

    It is the model that the pytest run of this process names, or ``PROMPTFUZZ_ENTAILMENT``, or the installed one.
    """
    run = configured()
    return _entailing(_found_entailment(*_where(), run), run.folder)


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
