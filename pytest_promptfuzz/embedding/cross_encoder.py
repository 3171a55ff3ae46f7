"""Cross-encoders that tell entailment: the same folder through onnxruntime, or through torch."""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from pytest_promptfuzz.embedding.entailment import Verdict
from pytest_promptfuzz.embedding.entailment_models import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    label_order,
    most_tokens,
    read_config,
)
from pytest_promptfuzz.embedding.models import (
    ONNX_EXTRA,
    SEMANTIC_EXTRA,
    TOKENIZER_FILE,
    onnx_file,
    read_manifest,
    stamp_of,
)
from pytest_promptfuzz.embedding.onnx import readable
from pytest_promptfuzz.embedding.transformer import no_progress_bars
from pytest_promptfuzz.errors import ConfigurationError, unstopped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_BATCH = 16
"""Pairs of one call of the model; more pad the short ones more than they save."""


class _Network(Protocol):
    """A loaded model and its tokenizer."""

    tokenizer: Any

    def logits(
        self, ids: list[list[int]], mask: list[list[int]], types: list[list[int]]
    ) -> list[list[float]]:
        """The outputs of each row; all rows have one length."""
        ...


class CrossEncoder(ABC):
    """A cross-encoder with the labels entailment, neutral and contradiction, loaded at the first pair.

    Args:
        folder: Holds ``config.json`` with the labels, and the model.
        name: What the model is called, where its manifest does not say.

    Raises:
        ConfigurationError: On the first use, where a library is missing or the files are no such model.
    """

    def __init__(self, folder: Path, *, name: str = "") -> None:
        self.folder = folder
        self._name = str(read_manifest(folder).get("name") or name or folder.resolve().name)
        self._network: _Network | None = None
        self._order = (0, 1, 2)
        self._padding = 0
        self._two_types = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def stamp(self) -> str:
        """Which copy of the model it is, told from its files without reading them, its labels included."""
        files = [*self._weights(), self.folder / TOKENIZER_FILE, self.folder / CONFIG_FILE]
        return f"{self._backend} {stamp_of(each for each in files if each.is_file())}"

    _backend = ""

    @abstractmethod
    def _weights(self) -> list[Path]:
        """The files of the model itself."""

    @abstractmethod
    def _loaded(self) -> _Network:
        """The model, read from its folder."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """A verdict for each pair of a premise and a hypothesis.

        Raises:
            ConfigurationError: The model cannot be loaded, or what it says is no verdict.
        """
        if not pairs:
            return []
        network = self._load()
        tokens = network.tokenizer.encode_batch([(readable(one), readable(two)) for one, two in pairs])
        # Pairs of one length need no padding, which costs as much as words do.
        order = sorted(range(len(pairs)), key=lambda index: len(tokens[index].ids))
        found: dict[int, Verdict] = {}
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            rows = network.logits(*self._padded([tokens[each] for each in batch]))
            for index, row in zip(batch, rows, strict=True):
                found[index] = self._verdict(row, truncated=bool(tokens[index].overflowing))
        return [found[index] for index in range(len(pairs))]

    def _padded(self, tokens: list[Any]) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
        longest = max(len(each.ids) for each in tokens)
        gaps = [longest - len(each.ids) for each in tokens]
        ids = [each.ids + [self._padding] * gap for each, gap in zip(tokens, gaps, strict=True)]
        mask = [[1] * len(each.ids) + [0] * gap for each, gap in zip(tokens, gaps, strict=True)]
        if not self._two_types:
            return ids, mask, [[0] * longest for _ in tokens]
        return ids, mask, [each.type_ids + [0] * gap for each, gap in zip(tokens, gaps, strict=True)]

    def _verdict(self, logits: list[float], *, truncated: bool) -> Verdict:
        if len(logits) != 3 or not all(map(math.isfinite, logits)):
            shown = ", ".join(f"{each:.3g}" for each in logits[:4])
            raise ConfigurationError(
                f"the entailment model in {self.folder} gives ({shown}) for a pair, where three finite numbers are "
                "wanted. Its files are damaged, or those of another kind of model."
            )
        highest = max(logits)
        powers = [math.exp(each - highest) for each in logits]
        total = math.fsum(powers)
        entailment, neutral, contradiction = (powers[index] / total for index in self._order)
        return Verdict(entailment, neutral, contradiction, truncated)

    def _load(self) -> _Network:
        if self._network is None:
            config = read_config(self.folder)
            self._order = label_order(self.folder)
            padding, types = config.get("pad_token_id"), config.get("type_vocab_size")
            self._padding = padding if isinstance(padding, int) and padding >= 0 else 0
            self._two_types = not isinstance(types, int) or types > 1
            network = self._loaded()
            network.tokenizer.no_padding()
            network.tokenizer.enable_truncation(most_tokens(self.folder, config))
            self._network = network
        return self._network

    def _broken(self, problem: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"the entailment model in {self.folder} cannot be loaded: {unstopped(problem)}. Get its files anew."
        )


class OnnxCrossEncoder(CrossEncoder):
    """A cross-encoder in ONNX: ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json``, ``config.json``."""

    _backend = "onnx"

    def _weights(self) -> list[Path]:
        file = onnx_file(self.folder)
        return [file] if file else []

    def _loaded(self) -> _Network:
        try:
            numpy: Any = importlib.import_module("numpy")
            runtime: Any = importlib.import_module("onnxruntime")
            tokenizers: Any = importlib.import_module("tokenizers")
        except ImportError as problem:
            raise ConfigurationError(
                f"the entailment model in {self.folder} needs onnxruntime and tokenizers: {ONNX_EXTRA}"
            ) from problem
        file = onnx_file(self.folder)
        if file is None:
            raise ConfigurationError(
                f"{self.folder} holds no exported model: no model.onnx with a {TOKENIZER_FILE}."
            )
        options = runtime.SessionOptions()
        options.log_severity_level = 3  # errors only: warnings of the runtime are not the user's
        # More threads wait for each other by spinning, which costs more than they save where processors are shared.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(self.folder / TOKENIZER_FILE))
            session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # both libraries raise types of their own, from C++ and Rust
            raise self._broken(problem) from problem
        return _OnnxNetwork(numpy, session, tokenizer)


class _OnnxNetwork:
    def __init__(self, numpy: Any, session: Any, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._numpy = numpy
        self._session = session
        self._inputs = {each.name for each in session.get_inputs()}

    def logits(
        self, ids: list[list[int]], mask: list[list[int]], types: list[list[int]]
    ) -> list[list[float]]:
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        arrays = {
            name: self._numpy.array(given[name], dtype=self._numpy.int64)
            for name in self._inputs & given.keys()
        }
        found = self._session.run(None, arrays)[0]
        return [list(map(float, self._numpy.ravel(row))) for row in found]


class TorchCrossEncoder(CrossEncoder):
    """A cross-encoder as sentence-transformers has it: ``model.safetensors``, ``config.json`` and its tokenizer."""

    _backend = "torch"

    def _weights(self) -> list[Path]:
        return [self.folder / WEIGHTS_FILE]

    def _loaded(self) -> _Network:
        try:
            torch: Any = importlib.import_module("torch")
            transformers: Any = importlib.import_module("transformers")
        except ImportError as problem:
            raise ConfigurationError(
                f"the entailment model in {self.folder} needs sentence-transformers: {SEMANTIC_EXTRA}"
            ) from problem
        try:
            with no_progress_bars():
                tokenizer = transformers.AutoTokenizer.from_pretrained(
                    str(self.folder), local_files_only=True
                )
                # No pickle is read, whatever the folder holds.
                model = transformers.AutoModelForSequenceClassification.from_pretrained(
                    str(self.folder), local_files_only=True, use_safetensors=True
                )
        except Exception as problem:  # transformers, tokenizers and safetensors raise types of their own
            raise self._broken(problem) from problem
        if not hasattr(tokenizer, "backend_tokenizer"):
            raise ConfigurationError(
                f"the entailment model in {self.folder} has no {TOKENIZER_FILE}, and none can be made for it."
            )
        return _TorchNetwork(torch, model.eval(), tokenizer)


class _TorchNetwork:
    def __init__(self, torch: Any, model: Any, tokenizer: Any) -> None:
        self.tokenizer = tokenizer.backend_tokenizer
        self._torch = torch
        self._model = model
        self._inputs = set(tokenizer.model_input_names)

    def logits(
        self, ids: list[list[int]], mask: list[list[int]], types: list[list[int]]
    ) -> list[list[float]]:
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        tensors = {name: self._torch.tensor(given[name]) for name in self._inputs & given.keys()}
        with self._torch.inference_mode():
            found: list[list[float]] = self._model(**tensors).logits.tolist()
        return found
