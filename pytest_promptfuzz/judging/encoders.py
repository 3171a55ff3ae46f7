"""The embedder and the entailment model of this process: which one is used, and running it by ONNX or torch."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_promptfuzz.comparing.meaning import Verdict
from pytest_promptfuzz.errors import ConfigurationError, NotRecordedError, TargetError, unstopped
from pytest_promptfuzz.judging.meaning import CachedEmbedder, CachedEntailment
from pytest_promptfuzz.judging.models import (
    CONFIG_FILE,
    ENTAILMENT_VARIABLE,
    FOLDER_VARIABLE,
    GET_ENTAILMENT,
    MAX_TOKENS,
    MINILM,
    MODEL_VARIABLE,
    ONNX_EXTRA,
    SEMANTIC_EXTRA,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    configured,
    find_entailment,
    find_model,
    label_order,
    model_folder,
    most_tokens,
    onnx_file,
    read_config,
    read_manifest,
    stamp_of,
)
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.sdk_clients import embeddings
from pytest_promptfuzz.wire.calls import NOT_RECORDED
from pytest_promptfuzz.wire.target_calls import ask
from pytest_promptfuzz.wire.watch import RunSettings, Watch
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.judging.meaning import VectorFile, Vectors
    from pytest_promptfuzz.judging.models import Configured, MeaningModel


@lru_cache(maxsize=8)
def embedder_of(model: MeaningModel) -> Embedder | None:
    """What embeds with a model, the same for this process and not yet loaded; ``None`` for no model."""
    if model.folder is None:
        return None
    if model.backend == "onnx":
        return OnnxEmbedder(model.folder, name=model.name)

    return SentenceTransformerEmbedder(str(model.folder), name=model.name)


@lru_cache(maxsize=8)
def entailment_of(model: MeaningModel) -> CrossEncoder | None:
    """What tells entailment with a model, the same for this process and not yet loaded; ``None`` for no model."""
    if model.folder is None:
        return None

    kind = OnnxCrossEncoder if model.backend == "onnx" else TorchCrossEncoder
    return kind(model.folder, name=model.name)


@lru_cache(maxsize=8)
def _embedding(model: MeaningModel, folder: Path | None) -> CachedEmbedder | None:
    embedder = embedder_of(model)
    return None if embedder is None else CachedEmbedder(embedder, _kept(folder))


@lru_cache(maxsize=8)
def _entailing(model: MeaningModel, folder: Path | None) -> CachedEntailment | None:
    entailment = entailment_of(model)
    return None if entailment is None else CachedEntailment(entailment, _kept(folder))


def _kept(folder: Path | None) -> VectorFile | None:
    if folder is None:
        return None
    from pytest_promptfuzz.judging.meaning import VectorFile

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
def _found_model(_variables: tuple[str | None, ...], _changed: int, _run: Configured) -> MeaningModel:
    return find_model()


@lru_cache(maxsize=8)
def _found_entailment(_variables: tuple[str | None, ...], _changed: int, _run: Configured) -> MeaningModel:
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


# An exported embedding model through onnxruntime and tokenizers, without torch.


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


# An embedding model through sentence-transformers, and so through torch.


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


# Cross-encoders that tell entailment: the same folder through onnxruntime, or through torch.


"""Pairs of one call of the model; more pad the short ones more than they save."""


class _LoadedNetwork(Protocol):
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
        self._network: _LoadedNetwork | None = None
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
    def _loaded(self) -> _LoadedNetwork:
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

    def _load(self) -> _LoadedNetwork:
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

    def _loaded(self) -> _LoadedNetwork:
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

    def _loaded(self) -> _LoadedNetwork:
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


# `ProviderEmbedder`: a provider's embeddings, asked through the wire: stored, recorded, limited and paid for.


_MOST_IN_REQUEST = 512
"""Texts of one call: OpenAI takes 2048 of at most 300,000 tokens together."""

_MISCONFIGURED = {"authentication", "billing", "refused", "not-found", "bad-request"}
"""Errors that say that the configuration is wrong."""


class ProviderEmbedder:
    """Asks a provider for the vectors of texts.

    ``under`` makes the one that a test uses; this one alone is for ``compare``.

    Args:
        name: ``openai:text-embedding-3-small``, or ``compatible:MODEL@URL``.
        vectors: Where vectors are kept beyond this process; ``None`` for nowhere.
        watch: What its calls are made under; by default one that stores nothing.

    Raises:
        UsageError: The name means no such provider.
    """

    def __init__(self, name: str, vectors: Vectors | None = None, watch: Watch | None = None) -> None:
        self._target = embeddings(name)
        self._vectors = vectors
        self._watch = watch if watch is not None else Watch(RunSettings(apart=True))
        self._failed: TargetError | None = None

    @property
    def name(self) -> str:
        """The model, and where it answers if that is not its provider."""
        return self._target.name

    @property
    def stamp(self) -> str:
        """Where it answers: a gateway may have another model under the same name."""
        return self._target.address().base

    def under(self, watch: Watch) -> CachedEmbedder:
        """The same for one test, whose calls are seen by ``watch``.

        A test that is recorded or replayed asks for all that it needs, whatever is known from elsewhere: its recording
        is to be complete.
        """
        alone = watch.settings.tape is not None and watch.settings.tape.alone
        kept = self._vectors if watch.settings.read and not alone else None
        return CachedEmbedder(ProviderEmbedder(self._target.name, watch=watch), kept)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in one call.

        Raises:
            TargetError: The call failed for a reason that says nothing about the texts. It is not made again.
            ConfigurationError: The key or the SDK is missing, or the provider refuses key, model or texts.
            NotRecordedError: Only the recording may be used, and does not hold the vectors.
        """
        if self._failed is not None:
            raise self._failed
        recorded = self._recorded()
        known = {text: recorded[shown] for text in texts if (shown := self._shown(text)) in recorded}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(missing), _MOST_IN_REQUEST):
            batch = missing[start : start + _MOST_IN_REQUEST]
            known |= zip(batch, self._ask(batch), strict=True)
        return [known[text] for text in texts]

    def _ask(self, texts: list[str]) -> list[list[float]]:
        # An empty text is refused by OpenAI; a space is not.
        request = Request(tuple({"role": "user", "content": text or " "} for text in texts))
        try:
            return _as_many(json.loads(ask(self._target, request, self._watch).text), texts)
        except TargetError as raised:
            # Below an SDK, a refusal of ours looks like one of the provider's.
            seen = self._watch.unrecovered()
            ours = bool(seen) and seen[-1].kind not in {*_MISCONFIGURED, raised.kind}
            error = TargetError(seen[-1].message, kind=seen[-1].kind) if ours else raised
            said = f"comparing meaning by {self.name}: {str(error).removeprefix(self.name + ': ')}"
            if error.kind == NOT_RECORDED:
                raise NotRecordedError(said) from None
            if error.kind in _MISCONFIGURED:
                mend = sentence(Note.of("calls:embedder", kind=error.kind))
                raise ConfigurationError(f"{said} {mend}".rstrip()) from None
            self._failed = TargetError(said, kind=error.kind, status=error.status)
            raise self._failed from None
        finally:
            self._target.close()

    def _recorded(self) -> dict[str, list[float]]:
        """The vectors in the recording of a test that is replayed, by text, whichever call they were asked for in."""
        tape = self._watch.settings.tape
        if tape is None or not tape.strict:
            return {}
        wire = self._target.prepare(Request(()))
        url = self._watch.settings.redaction.url(wire.url)
        found: dict[str, list[float]] = {}
        for answer in tape.answers():
            asked = answer.request.get("input")
            same = answer.url == url and answer.request.get("model") == self._target.model
            if same and isinstance(asked, list) and answer.status < 400:
                vectors = json.loads(self._target.parse(json.loads(answer.body)).text)
                found |= zip(asked, vectors, strict=False)
        return found

    def _shown(self, text: str) -> str:
        """A text as recordings have it."""
        return self._watch.settings.redaction.text(text or " ")


def _as_many(vectors: list[list[float]], texts: Sequence[str]) -> list[list[float]]:
    if len(vectors) != len(texts):
        raise TargetError(f"{len(vectors)} embeddings came for {len(texts)} texts", kind="malformed")
    return vectors
