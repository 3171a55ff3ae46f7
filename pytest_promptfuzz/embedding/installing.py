"""Putting models where every run finds them: ``promptfuzz model install``."""

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
from pytest_promptfuzz.embedding.choose import entailment_of
from pytest_promptfuzz.embedding.entailment_check import check_entailment
from pytest_promptfuzz.embedding.entailment_models import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    find_entailment,
    installed_entailment_folder,
)
from pytest_promptfuzz.embedding.exporting import export
from pytest_promptfuzz.embedding.hub import download
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
    from collections.abc import Callable, Iterator
    from typing import IO

    from pytest_promptfuzz.embedding.entailment_check import KindErrors
    from pytest_promptfuzz.embedding.hub import Offer

_FILES = (MODEL_FILE, TOKENIZER_FILE, MANIFEST_FILE)
_BESIDE_ENTAILMENT = (
    CONFIG_FILE,
    TOKENIZER_FILE,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
    "sentencepiece.bpe.model",
)
"""What stands beside the weights of an entailment model; what of it is there is taken along."""
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
    if source is not None and not source.exists():
        raise UsageError(f"there is no file or folder {source}. {_WANTED}.")
    if source is not None and source.is_dir() and onnx_file(source) is None:
        raise UsageError(f"{source} holds no exported model. {_WANTED}.")
    if not has_onnx():
        raise ConfigurationError(f"an exported model needs onnxruntime and tokenizers: {ONNX_EXTRA}")
    target = model_folder() / MINILM
    with _replacing(target, source) as new:
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
    return target


def install_entailment(source: Path) -> tuple[Path, list[KindErrors]]:
    """Check an entailment model on pairs of claims, and put it where the plugin looks, in the old one's place.

    Args:
        source: A folder that holds it, in ONNX or as sentence-transformers has it.

    Returns:
        Where it was put, and its errors by kind.

    Raises:
        UsageError: The folder holds no entailment model, or one that errs on more than half of what it is asked.
        ConfigurationError: A library is missing, the model cannot be loaded, or the folder cannot be written.
    """
    if not source.is_dir():
        raise UsageError(f"there is no folder {source}. Give a folder that holds an entailment model.")
    found = find_entailment(str(source))
    if found.folder is None:
        said = f"{found.mend.replace(' (promptfuzz_entailment)', '').removesuffix('.')}."
        raise ConfigurationError(said) if found.name else UsageError(said)
    target = installed_entailment_folder()
    with _replacing(target, source) as new:
        new.mkdir()
        exported = onnx_file(source) if found.backend == "onnx" else None
        weights = exported or source / WEIGHTS_FILE
        shutil.copyfile(weights, new / weights.name)
        for name in _BESIDE_ENTAILMENT:
            if (source / name).is_file():
                shutil.copyfile(source / name, new / name)
        manifest = {**read_manifest(source), "name": found.name}
        (new / MANIFEST_FILE).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
        copied = entailment_of(find_entailment(str(new)))
        if copied is None:
            raise UsageError(f"{source} lacks a file that its model needs: {find_entailment(str(new)).mend}")
        errors = check_entailment(copied)
        wrong, asked = errors[-1].wrong_directions, 2 * errors[-1].pairs
        if 2 * wrong > asked:
            raise UsageError(
                f"the model in {source} errs on {wrong} of {asked} known questions, no better than chance. Its "
                f"{CONFIG_FILE} may name the labels in another order than the model's outputs have, or it is made "
                "for another language or task."
            )
    return target, errors


def install_from_hub(
    offer: Offer, name: str, progress: Callable[[int], None] = lambda _: None
) -> tuple[Path, list[KindErrors]]:
    """Download a model and install it. Where anything fails, what was installed before stays.

    Args:
        offer: From ``hub.look_up``.
        name: ``minilm`` or ``entailment``.
        progress: Called with the bytes that have come.

    Returns:
        Where it was put; of an entailment model also its errors by kind.

    Raises:
        ConfigurationError: A library is missing, the download fails, or the folder cannot be written.
        UsageError: What was downloaded is not the model.
    """
    if not has_onnx():
        raise ConfigurationError(f"this model needs onnxruntime and tokenizers: {ONNX_EXTRA}")
    with _folder_for(model_folder()) as made:
        folder = made / offer.model.repository.rpartition("/")[2]
        download(offer, name, folder, progress)
        with _named_as(folder, offer.model.repository):
            return install_entailment(folder) if name == "entailment" else (install(folder), [])


@contextlib.contextmanager
def _folder_for(parent: Path) -> Iterator[Path]:
    """A folder beside installed models, removed at the end with all that is still in it."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=".installing-") as made:
            yield Path(made)
    except OSError as problem:
        raise ConfigurationError(f"{parent} cannot be written: {unstopped(problem)}") from problem


@contextlib.contextmanager
def _replacing(target: Path, source: Path | None) -> Iterator[Path]:
    """The path of a new folder, which takes the place of an installed model where nothing is raised."""
    with _folder_for(target.parent) as made:
        new = made / "new"
        with _named_as(new, str(source or MINILM)):
            yield new
        if target.exists():
            target.rename(made / "old")
        new.rename(target)


@contextlib.contextmanager
def _named_as(folder: Path, name: str) -> Iterator[None]:
    """What is wrong with files in a folder that is removed again is said of where they came from."""
    try:
        yield
    except (UsageError, ConfigurationError) as error:
        raise type(error)(str(error).replace(str(folder), name)) from error


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
            f"there is no {MINILM} on this machine to install. Download it: promptfuzz model install minilm, or give a "
            "folder or archive."
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
