"""From a model that needs torch to files that do not: ``promptfuzz model export``."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.embedding.checking import TEXTS, check, makes_minilm
from pytest_promptfuzz.embedding.models import MANIFEST_FILE, MAX_TOKENS, MINILM, MODEL_FILE, TOKENIZER_FILE
from pytest_promptfuzz.errors import ConfigurationError, UsageError, unstopped

if TYPE_CHECKING:
    from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder

FORMAT = 1
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_MEND = "pip install 'pytest-promptfuzz[semantic]' onnx onnxscript"


def export(embedder: SentenceTransformerEmbedder, folder: Path) -> str:
    """Write a model as ONNX, with its tokenizer and what it makes of known texts.

    Args:
        embedder: The model.
        folder: Where to; made if it is not there.

    Returns:
        The model's name. MiniLM is told by its vectors, whatever the folder is called that it comes from.

    Raises:
        UsageError: The folder holds files already.
        ConfigurationError: A library or the model is missing, torch cannot export it, or what was exported embeds the
            known texts otherwise than the model.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Give a folder that is, or one that is not there yet.")
    for package in ("onnx", "onnxscript"):
        try:
            importlib.import_module(package)
        except ImportError as problem:
            raise ConfigurationError(f"exporting a model needs the package {package}: {_MEND}") from problem
    model = embedder.load()
    vectors = embedder.embed(TEXTS)
    name = MINILM if makes_minilm(vectors) else embedder.name.rpartition("/")[2]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".promptfuzz-export-") as made:
        written = Path(made)
        _to_onnx(model, written / MODEL_FILE)
        model.tokenizer.backend_tokenizer.save(str(written / TOKENIZER_FILE))
        manifest = {
            "format": FORMAT,
            "name": name,
            "max_tokens": int(model.max_seq_length or MAX_TOKENS),
            "check": [[round(each, 6) for each in vector] for vector in vectors],
        }
        (written / MANIFEST_FILE).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
        check(written)
        folder.mkdir(exist_ok=True)
        for file in (MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE):
            shutil.move(written / file, folder / file)
    return name


def _to_onnx(model: Any, file: Path) -> None:
    torch: Any = importlib.import_module("torch")

    class Sentences(torch.nn.Module):  # type: ignore[misc]  # torch is imported late
        """The whole model, from token IDs to a vector for each text."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *given: Any) -> Any:
            return self.model(dict(zip(_INPUTS, given, strict=True)))["sentence_embedding"]

    tokens = model.tokenizer(list(TEXTS), padding=True, return_tensors="pt")
    given = tuple(tokens.get(name, torch.zeros_like(tokens["input_ids"])) for name in _INPUTS)
    shape = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=int(model.max_seq_length))}
    try:
        with _quietly(), torch.no_grad():
            torch.onnx.export(
                Sentences().eval(),
                given,
                str(file),
                input_names=list(_INPUTS),
                output_names=["sentence_embedding"],
                dynamic_shapes={"given": (shape,) * len(_INPUTS)},
                external_data=False,
                dynamo=True,
            )
    except Exception as problem:  # whatever torch's exporter meets in a model that it cannot read
        raise ConfigurationError(
            f"torch {torch.__version__} cannot export this model: {type(problem).__name__}: {unstopped(problem)}"
        ) from problem


@contextlib.contextmanager
def _quietly() -> Any:
    """Keep torch's exporter from telling of its steps."""
    known = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(known)
