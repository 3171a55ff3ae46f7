"""Models of the Hugging Face hub that one command fetches: what they are, what they weigh, and their files, checked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final

from pytest_promptfuzz.embedding.entailment_models import CONFIG_FILE
from pytest_promptfuzz.embedding.models import MODEL_FILE, TOKENIZER_FILE
from pytest_promptfuzz.errors import ConfigurationError, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

ENDPOINT_VARIABLE = "HF_ENDPOINT"
ENDPOINT = "https://huggingface.co"

_SECONDS = 30.0
_PIECE = 1 << 18
_LARGEST_LIST = 8 << 20
_LARGEST_FILE = 2 << 30
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


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
