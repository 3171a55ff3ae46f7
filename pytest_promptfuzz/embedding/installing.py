"""Putting an exported model where every run finds it: ``promptfuzz model install``."""

from __future__ import annotations

import contextlib
import json
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.embedding.checking import check, is_minilm
from pytest_promptfuzz.embedding.exporting import export
from pytest_promptfuzz.embedding.models import (
    MANIFEST_FILE,
    MINILM,
    MODEL_FILE,
    ONNX_EXTRA,
    TOKENIZER_FILE,
    has_onnx,
    has_torch,
    model_folder,
    onnx_file,
    read_manifest,
    trained_minilm,
)
from pytest_promptfuzz.embedding.onnx import OnnxEmbedder
from pytest_promptfuzz.embedding.transformer import SentenceTransformerEmbedder
from pytest_promptfuzz.errors import ConfigurationError, UsageError, unstopped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_FILES = (MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE)
_WANTED = (
    f"Give what `promptfuzz model export` wrote, or a folder with {TOKENIZER_FILE} and onnx/{MODEL_FILE}"
)


def install(source: Path | None = None) -> Path:
    """Check an exported MiniLM by embedding known texts, and put it where the plugin looks, in the old one's place.

    Args:
        source: A folder that holds it, or a ``.zip`` or ``.tar`` archive of one. By default a copy that was downloaded
            before: the exported one among its files, or else the one that torch exports from it.

    Returns:
        Where it was put.

    Raises:
        UsageError: The source is not there, or holds no exported model, or another one than MiniLM.
        ConfigurationError: A library is missing, the model is not what it says, or the folder cannot be written.
    """
    if not has_onnx():
        raise ConfigurationError(f"an exported model needs onnxruntime and tokenizers: {ONNX_EXTRA}")
    target = model_folder() / MINILM
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".installing-") as made:
            new = Path(made) / "new"
            if source is None:
                _found(new)
            elif source.is_dir():
                _copied(source, new)
            else:
                _unpacked(source, new)
            check(new)
            # What it makes of known texts tells which model it is; its name may be that of a folder.
            if not is_minilm(OnnxEmbedder(new)):
                raise UsageError(
                    f"{source} is not {MINILM}, the only model that can be installed. Use another model where it lies: "
                    f"promptfuzz_model = {source}"
                )
            _named(new)
            if target.exists():
                target.rename(Path(made) / "old")
            new.rename(target)
    except OSError as problem:
        raise ConfigurationError(f"{target} cannot be written: {unstopped(problem)}") from problem
    return target


def _named(new: Path) -> None:
    manifest = read_manifest(new)
    if manifest.get("name", MINILM) != MINILM:
        (new / MANIFEST_FILE).write_text(json.dumps({**manifest, "name": MINILM}) + "\n", encoding="utf-8")


def _found(new: Path) -> None:
    snapshot = trained_minilm()
    if snapshot is not None and onnx_file(snapshot):
        _copied(snapshot, new)
    elif snapshot is not None and has_torch():
        export(SentenceTransformerEmbedder(str(snapshot), name=MINILM), new)
    else:
        raise ConfigurationError(
            f"there is no {MINILM} on this machine to install. Download it: hf download sentence-transformers/{MINILM} "
            f"{TOKENIZER_FILE} onnx/{MODEL_FILE}, or give a folder or archive."
        )


def _copied(source: Path, new: Path) -> None:
    model = onnx_file(source)
    if model is None:
        raise UsageError(f"{source} holds no exported model. {_WANTED}.")
    new.mkdir()
    shutil.copyfile(model, new / MODEL_FILE)
    for name in (TOKENIZER_FILE, MANIFEST_FILE):
        if (source / name).is_file():
            shutil.copyfile(source / name, new / name)


def _unpacked(source: Path, new: Path) -> None:
    """Take the files of a model out of an archive, by their names: no path of it is written to."""
    if not source.is_file():
        raise UsageError(f"there is no file or folder {source}. {_WANTED}.")
    new.mkdir()
    found: set[str] = set()
    try:
        for name, opened in _members(source):
            if name in found:
                raise UsageError(f"{source} holds {name} twice. {_WANTED}, in an archive of its own.")
            found.add(name)
            with opened, (new / name).open("wb") as file:
                shutil.copyfileobj(opened, file)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as problem:
        raise UsageError(f"{source} is no archive, or a damaged one. {_WANTED}.") from problem
    if not found >= {MODEL_FILE, TOKENIZER_FILE}:
        raise UsageError(f"{source} holds no exported model. {_WANTED}.")


def _members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as zipped:
            for info in zipped.infolist():
                if (name := Path(info.filename).name) in _FILES and not info.is_dir():
                    yield name, zipped.open(info)
        return
    with contextlib.closing(tarfile.open(source)) as packed:
        for member in packed:
            opened = packed.extractfile(member) if member.isfile() else None
            if opened is not None and (name := Path(member.name).name) in _FILES:
                yield name, opened
