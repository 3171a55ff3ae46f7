"""An exported embedding model through onnxruntime and tokenizers, without torch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.embedding.models import (
    MAX_TOKENS,
    ONNX_EXTRA,
    TOKENIZER_FILE,
    onnx_file,
    read_manifest,
    stamp_of,
)
from pytest_promptfuzz.errors import ConfigurationError, unstopped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BATCH = 16
"""Texts of one call of the model; more pad the short ones more than they save."""


class OnnxEmbedder:
    """A sentence embedding model in ONNX, loaded at the first text.

    The model is one that ``promptfuzz model export`` wrote, or a published one whose last hidden state is averaged over
    the tokens and made of length 1, as all-MiniLM-L6-v2 has it.

    Args:
        folder: Holds ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json``, and of exported ones a manifest.
        name: What the model is called, where its manifest does not say.

    Raises:
        ConfigurationError: On the first use, where a library is missing or the files are no such model.
    """

    def __init__(self, folder: Path, *, name: str = "") -> None:
        said = read_manifest(folder)
        tokens = said.get("max_tokens")
        self.folder = folder
        self._name = str(said.get("name") or name or folder.name)
        self._max_tokens = tokens if isinstance(tokens, int) and tokens > 0 else MAX_TOKENS
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def stamp(self) -> str:
        """Which copy of the model it is, told from its file without reading it."""
        file = onnx_file(self.folder)
        return f"onnx {stamp_of([file] if file else [])}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 for each text, of 384 floats where the model is MiniLM."""
        model = self._load()
        # Texts of one length need no padding, which costs as much as words do.
        tokens = model.tokenizer.encode_batch([readable(text) for text in texts])
        order = sorted(range(len(texts)), key=lambda index: len(tokens[index].ids))
        vectors: dict[int, list[float]] = {}
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors.update(zip(batch, model.run([tokens[each].ids for each in batch]), strict=True))
        return [vectors[index] for index in range(len(texts))]

    def truncates(self, text: str) -> bool:
        """Whether the text is longer than what the model reads, of MiniLM 256 tokens."""
        if len(text) <= self._max_tokens - 2:
            return False  # a token is at least one character
        return bool(self._load().tokenizer.encode(readable(text)).overflowing)

    def _load(self) -> _Loaded:
        if self._loaded is None:
            self._loaded = _Loaded(self.folder, self._max_tokens)
        return self._loaded


class _Loaded:
    """The model and its tokenizer."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        try:
            self._numpy: Any = importlib.import_module("numpy")
            runtime: Any = importlib.import_module("onnxruntime")
            tokenizers: Any = importlib.import_module("tokenizers")
        except ImportError as problem:
            raise ConfigurationError(
                f"comparing meaning by the model in {folder} needs onnxruntime and tokenizers: {ONNX_EXTRA}"
            ) from problem
        file = onnx_file(folder)
        if file is None:
            raise ConfigurationError(
                f"{folder} holds no exported model: no model.onnx with a {TOKENIZER_FILE}."
            )
        options = runtime.SessionOptions()
        options.log_severity_level = 3  # errors only: warnings of the runtime are not the user's
        # More threads wait for each other by spinning, which costs more than they save where processors are shared.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER_FILE))
            self._session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # both libraries raise types of their own, from C++ and Rust
            raise ConfigurationError(
                f"the embedding model in {folder} cannot be loaded: {unstopped(problem)}. Get its files anew."
            ) from problem
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_tokens)
        self._inputs = {each.name for each in self._session.get_inputs()}

    def run(self, tokens: list[list[int]]) -> list[list[float]]:
        """A vector of length 1 for each list of token IDs."""
        numpy = self._numpy
        longest = max(map(len, tokens))
        ids = numpy.zeros((len(tokens), longest), dtype=numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, each in enumerate(tokens):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        found = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if found.ndim == 3:  # the last hidden state, not yet a vector for each text
            found = (found * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        norms = numpy.linalg.norm(found, axis=1, keepdims=True)
        return [list(map(float, vector)) for vector in found / numpy.maximum(norms, 1e-12)]


def readable(text: str) -> str:
    """A text as the tokenizer takes it: without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")
