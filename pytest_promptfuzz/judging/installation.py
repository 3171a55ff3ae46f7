"""``promptfuzz model``: models of meaning downloaded, checked, exported to ONNX and installed."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import logging
import math
import os
import re
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import warnings
import zipfile
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_promptfuzz.errors import ConfigurationError, UsageError, unstopped
from pytest_promptfuzz.judging.encoders import OnnxEmbedder, SentenceTransformerEmbedder, entailment_of
from pytest_promptfuzz.judging.meaning import check_entailment
from pytest_promptfuzz.judging.models import (
    CONFIG_FILE,
    MANIFEST_FILE,
    MAX_TOKENS,
    MINILM,
    MODEL_FILE,
    ONNX_EXTRA,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    find_entailment,
    has_onnx,
    has_torch,
    installed_entailment_folder,
    model_folder,
    onnx_file,
    read_manifest,
    trained_minilm,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import IO, TypeGuard

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.judging.meaning import KindErrors


# Models of the Hugging Face hub that one command fetches: what they are, what they weigh, and their files, checked.


ENDPOINT_VARIABLE = "HF_ENDPOINT"
ENDPOINT = "https://huggingface.co"

_SECONDS = 30.0
_PIECE = 1 << 18
_LARGEST_LIST = 8 << 20
_LARGEST_FILE = 2 << 30
_COMMIT = expression(r"[0-9a-f]{40}")
_SHA256 = expression(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model that ``promptfuzz model install NAME`` fetches.

    Attributes:
        repository: Where it lies on the hub.
        files: Those that are needed.
    """

    repository: str
    files: tuple[str, ...]


HUB_MODELS: Final = {
    "minilm": HubModel("sentence-transformers/all-MiniLM-L6-v2", (TOKENIZER_FILE, f"onnx/{MODEL_FILE}")),
    "entailment": HubModel(
        "cross-encoder/nli-MiniLM2-L6-H768",
        (CONFIG_FILE, TOKENIZER_FILE, "tokenizer_config.json", f"onnx/{MODEL_FILE}"),
    ),
}


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of the hub.

    Attributes:
        path: In its repository.
        size: In bytes.
        checksum: SHA-256 of a large file; of a small one the SHA-1 that git names it by.
    """

    path: str
    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a download would fetch.

    Attributes:
        model: The model.
        source: The address of its page.
        revision: The commit of its repository.
        license: What the hub says of its licence; empty where it says nothing.
        files: What is fetched.
    """

    model: HubModel
    source: str
    revision: str
    license: str
    files: tuple[HubFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.size for each in self.files)


def look_up(name: str) -> Offer:
    """Ask the hub what a model is. Nothing of it is fetched yet.

    Args:
        name: One of ``HUB_MODELS``.

    Raises:
        ConfigurationError: The hub cannot be reached, or does not have the model's files.
    """
    model = HUB_MODELS[name]
    base = _endpoint()
    about = _json(f"{base}/api/models/{model.repository}/revision/main", name)
    revision = about.get("sha") if isinstance(about, dict) else None
    if not isinstance(revision, str) or not _COMMIT.fullmatch(revision):
        raise _unusable(name, f"{base} names no revision of {model.repository}")
    listed = _json(f"{base}/api/models/{model.repository}/tree/{revision}?recursive=true", name)
    known = {
        each["path"]: each
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict) and isinstance(each.get("path"), str)
    }
    files = []
    for path in model.files:
        found = _file(path, known.get(path))
        if found is None:
            raise _unusable(name, f"{base} has no file {path} with size and checksum in {model.repository}")
        files.append(found)
    return Offer(model, f"{base}/{model.repository}", revision, _license(about), tuple(files))


def download(offer: Offer, name: str, folder: Path, progress: Callable[[int], None] = lambda _: None) -> None:
    """Fetch the files of an offer, and compare each with its size and checksum.

    Args:
        offer: From ``look_up``.
        name: The model's, for messages.
        folder: Where they are written, under their paths in the repository. After an error it holds incomplete files.
        progress: Called with the bytes that have come.

    Raises:
        ConfigurationError: A file cannot be fetched, or is not the one that was offered.
        OSError: The folder cannot be written.
    """
    came = 0
    for file in offer.files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        url = f"{offer.source}/resolve/{offer.revision}/{urllib.parse.quote(file.path)}"
        large = len(file.checksum) == 64
        digest = hashlib.sha256() if large else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
        size = 0
        with target.open("wb") as written, contextlib.closing(_pieces(url, name)) as pieces:
            for piece in pieces:
                size, came = size + len(piece), came + len(piece)
                if size > file.size:
                    break
                digest.update(piece)
                written.write(piece)
                progress(came)
        if size != file.size:
            much = "more" if size > file.size else f"{size:,}"
            raise _unusable(name, f"{url} has {file.size:,} bytes by the hub's list, and {much} came")
        if digest.hexdigest() != file.checksum:
            raise _unusable(name, f"{url} is not the file of the hub's list: its checksum is another one")


def _endpoint() -> str:
    base = (os.environ.get(ENDPOINT_VARIABLE) or ENDPOINT).rstrip("/")
    if not re.match(r"https?://[^/]", base):
        raise ConfigurationError(
            f"{ENDPOINT_VARIABLE}={base} is no address. Give one that begins with https://, or unset it for {ENDPOINT}."
        )
    return base


def _file(path: str, listed: dict[str, Any] | None) -> HubFile | None:
    if listed is None or listed.get("type") != "file":
        return None
    large = listed.get("lfs")
    size, checksum = listed.get("size"), listed.get("oid")
    shape = _COMMIT
    if isinstance(large, dict):
        size, checksum, shape = large.get("size"), large.get("oid"), _SHA256
    if not isinstance(size, int) or not 0 < size <= _LARGEST_FILE:
        return None
    if not isinstance(checksum, str) or not shape.fullmatch(checksum):
        return None
    return HubFile(path, size, checksum)


def _license(about: dict[str, Any]) -> str:
    card, tags = about.get("cardData"), about.get("tags")
    said = card.get("license") if isinstance(card, dict) else None
    if not isinstance(said, str):
        found = tags if isinstance(tags, list) else []
        said = next((each[8:] for each in found if isinstance(each, str) and each.startswith("license:")), "")
    return said[:60]


def _json(url: str, name: str) -> Any:
    data = b""
    with contextlib.closing(_pieces(url, name)) as pieces:
        for piece in pieces:
            data += piece
            if len(data) > _LARGEST_LIST:
                raise _unusable(name, f"{url} is longer than a list of files can be")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise _unusable(name, f"{url} is not JSON, so it is no address of the hub") from None


def _pieces(url: str, name: str) -> Generator[bytes, None, None]:
    """The body of an answer, in pieces."""
    request = urllib.request.Request(url, headers={"User-Agent": "pytest-promptfuzz"})  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            while piece := answer.read(_PIECE):
                yield piece
    except urllib.error.HTTPError as problem:
        problem.close()
        raise _unusable(name, f"{url} answers with {problem.code} {problem.reason}") from None
    except (HTTPException, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise _unusable(
            name, f"{url} cannot be read: {unstopped(reason) or type(problem).__name__}"
        ) from None


def _unusable(name: str, problem: str) -> ConfigurationError:
    option = "--entailment FOLDER" if name == "entailment" else "FOLDER"
    model = HUB_MODELS[name]
    return ConfigurationError(
        f"{problem}. Nothing was installed. Try again later, or get {', '.join(model.files)} of {model.repository} on "
        f"another machine and run: promptfuzz model install {option}"
    )


# Whether a copy of a model is what it says: known texts are embedded, and the vectors compared with known ones.


TEXTS = (
    "The parcel is lost; we will send another one soon.",
    "Expect a replacement, since ours went astray.",
    "Grüße aus Köln: 3,50 € — 日本語 😀",
)
CLOSE = 1e-4
"""By how much a number of a vector may differ from the known one; other builds of the runtime differ by about 1e-6."""

# The first numbers of MiniLM's vectors, for published copies, which have no manifest.
_MINILM = (
    (-0.02039, -0.01113, 0.07328, 0.01642, 0.05035, 0.01428, -0.06316, -0.02334),
    (-0.02793, -0.01567, 0.08035, -0.00251, -0.01137, -0.06816, -0.04967, -0.00311),
    (0.02774, 0.10767, 0.04981, -0.02351, -0.03856, 0.05046, 0.03113, 0.06942),
)


def check(folder: Path) -> None:
    """Embed known texts with an exported model.

    Raises:
        ConfigurationError: A library is missing, the files cannot be loaded, or the vectors are not those of the model.
    """
    known: Sequence[Sequence[float]] = _MINILM
    model, said = MINILM, read_manifest(folder).get("check")
    if _is_check(said):
        known, model = said, "what its manifest says"
    for text, expected, vector in zip(TEXTS, known, OnnxEmbedder(folder).embed(TEXTS), strict=True):
        if not _begins(vector, expected):
            raise ConfigurationError(
                f"the model in {folder} is not {model}: it makes another vector of {text!r}. Its files may be damaged, "
                "or of different models."
            )


def is_minilm(embedder: Embedder) -> bool:
    """Whether a model is MiniLM, told by what it makes of known texts."""
    return makes_minilm(embedder.embed(TEXTS))


def makes_minilm(vectors: Sequence[Sequence[float]]) -> bool:
    """Whether the vectors of ``TEXTS`` are those of MiniLM."""
    return all(_begins(vector, known) for vector, known in zip(vectors, _MINILM, strict=True))


def _begins(vector: Sequence[float], known: Sequence[float]) -> bool:
    return len(vector) >= len(known) and all(
        math.isclose(each, wanted, abs_tol=CLOSE) for each, wanted in zip(vector, known, strict=False)
    )


def _is_check(value: object) -> TypeGuard[list[list[float]]]:
    return (
        isinstance(value, list)
        and len(value) == len(TEXTS)
        and all(
            isinstance(row, list) and row and all(isinstance(each, float) for each in row) for row in value
        )
    )


# From a model that needs torch to files that do not: ``promptfuzz model export``.


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
