"""Files, read and written with care: no pipe is waited for, no link leads out of a project, sizes are bounded."""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import stat
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pytest_promptfuzz.errors import StoreError, TargetError
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


# What an editor or a web page would hide, reorder or break a line at; and what UTF-8 cannot hold.
_UNSEEN = expression(
    "[\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def to_json(value: Any, **layout: Any) -> str:
    r"""JSON as a reviewer has to see it: text as it reads, an escape (``\u202e``) for what would not show.

    >>> to_json({"a": "é\u202e"})
    '{"a": "é\\u202e"}'
    """
    text = json.dumps(value, ensure_ascii=False, **layout)
    return text if text.isascii() else _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, to be read.

    Raises:
        OSError: It cannot be opened, or is something else: a folder, a pipe, which would be waited for, or a device,
            which may never end.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "It is no regular file", os.fspath(path))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All of a regular file.

    Raises:
        OSError: As :func:`open_file`.
    """
    with open_file(path) as file:
        return file.read()


def read_text(path: str | os.PathLike[str], encoding: str = "utf-8") -> str:
    """All of a regular file as text; line ends are as they stand.

    Raises:
        OSError: As :func:`open_file`.
        UnicodeDecodeError: It is of another encoding.
    """
    return read_bytes(path).decode(encoding)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file piece by piece: whoever reads it finds the old file, or all of the new one.

    Args:
        path: Of the file; of a symbolic link, the file that it leads to is written. Its folder is made.

    Raises:
        StoreError: It cannot be written, or what stands there is no file; it is as it was.
    """
    place = Path(os.path.realpath(path))
    if os.path.lexists(place) and not place.is_file():
        what = "a folder" if place.is_dir() else "no regular file"
        raise StoreError(f"{path} is {what}, and was left as it is. Name a file.")
    name = ""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(place)
    except BaseException as error:
        if name:
            with contextlib.suppress(OSError):
                Path(name).unlink()
        if isinstance(error, OSError):
            raise StoreError(
                f"{path} cannot be written ({error.strerror or error}). It is as it was; change its permissions or "
                "free some space."
            ) from None
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document, read by what pytest itself reads pyproject.toml by.

    Raises:
        ValueError: It is none.
    """
    tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = tomllib.loads(text)
    return found


def check_inside(path: Path, project: Path) -> None:
    """Refuse to write where symbolic links lead out of the project.

    Args:
        path: Of a file or folder that the plugin chose a place for, whether or not it exists.
        project: The project's root; a path that does not begin with it was given by the user, and may be anywhere.

    Raises:
        StoreError: The path, or a folder above it within the project, is a link to somewhere else.
    """
    if not Path(os.path.abspath(path)).is_relative_to(os.path.abspath(project)):  # noqa: PTH100 - links are looked for
        return
    place = os.path.realpath(path)
    if not Path(place).is_relative_to(os.path.realpath(project)):
        raise StoreError(
            f"{path} leads out of the project, to {place}, by a symbolic link; nothing is written there. Put a file or "
            "folder of the project's own in the place of the link."
        )


# What is compressed, laid open step by step and up to a limit: a small file may hold gigabytes of zeros.
#
# Each function stops at its limit before more than a piece beyond it is in memory.


MAX_FILE = 256 * 1024 * 1024
"""Bytes that a compressed file may hold."""
MAX_BODY = 64 * 1024 * 1024
"""Bytes that the body of a request or an answer may hold."""

_PIECE = 1024 * 1024
# Bytes that are laid open at once. Of Brotli and Zstandard a few of them may be megabytes.
_FEED = {"gzip": 8192, "x-gzip": 8192, "deflate": 8192}
_FEW = 64


def unpacked_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """All of a file that is compressed with gzip.

    Raises:
        OSError, EOFError, zlib.error: It cannot be read, or is no such file.
        StoreError: It holds more than the limit.
    """
    pieces: list[bytes] = []
    size = 0
    import gzip

    with open_file(path) as packed, gzip.open(packed) as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > limit:
                raise StoreError(
                    f"it holds more than {shown(limit)} once it is unpacked. Record fewer tests into one file, or "
                    "store it without .gz"
                )
            pieces.append(piece)
    return b"".join(pieces)


def copy_unpacked(source: BinaryIO, target: BinaryIO, limit: int) -> None:
    """Write what a compressed file holds into another.

    Raises:
        StoreError: It holds more than the limit.
    """
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise StoreError(f"it holds more than {shown(limit)} once it is unpacked")
        target.write(piece)


def unpacked_body(library: ModuleType, encoding: str, raw: bytes, limit: int | None = None) -> bytes:
    """A body without its content encoding (gzip, deflate, and what else the HTTP library knows).

    Args:
        library: httpx2 or httpx.
        encoding: As the header ``content-encoding`` names it.
        raw: The body as it was sent.
        limit: Bytes that it may hold; ``MAX_BODY`` by default.

    Raises:
        TargetError: It holds more than the limit, or is encoded more than once.
        Exception: The library's ``DecodingError``.
    """
    if encoding in {"", "identity"}:
        return raw
    return b"".join(unpacked_pieces(library, encoding, raw, limit))


def unpacked_pieces(
    library: ModuleType, encoding: str, raw: bytes, limit: int | None = None, *, then: Exception | None = None
) -> Iterator[bytes]:
    """As :func:`unpacked_body`, piece by piece; ``then`` is raised where the body ends, if it is no whole one."""
    most = MAX_BODY if limit is None else limit
    named = [each for each in encoding.lower().replace(" ", "").split(",") if each not in {"", "identity"}]
    if len(named) > 1:
        raise TargetError(
            f"The body is encoded {len(named)} times ({encoding:.60}), and is not unpacked. Encode it once.",
            kind="malformed",
        )
    step = _FEED.get(named[0], _FEW) if named else max(1, len(raw))

    class Slices(library.SyncByteStream):  # type: ignore[misc, name-defined]  # known at run time
        def __iter__(self) -> Iterator[bytes]:
            for start in range(0, len(raw), step):
                yield raw[start : start + step]
            if then is not None:
                raise then

    headers = {"content-encoding": named[0]} if named else {}
    size = 0
    for piece in library.Response(200, headers=headers, stream=Slices()).iter_bytes():
        size += len(piece)
        if named and size > most:
            raise TargetError(
                f"The body has {len(raw):,} bytes and more than {shown(most)} once it is unpacked ({named[0]}). It was "
                "not read; send or ask for less, or send it without compression.",
                kind="malformed",
            )
        yield piece


def shown(limit: int) -> str:
    """A limit as people read it.

    >>> shown(64 * 1024 * 1024)
    '64 MB'
    """
    return f"{limit // (1024 * 1024)} MB"


UNREADABLE = (OSError, EOFError, zlib.error, StoreError)
"""What reading a compressed file may raise."""


# The folder of stored answers: ours alone, and out of git.


def make_directory(directory: Path) -> None:
    """Make the directory; one that is not ours alone (a project's root) keeps its mode and contents.

    Raises:
        OSError: It cannot be made.
        StoreError: It, or a folder in it, is a symbolic link that leads out of the folder around it.
    """
    project = directory.parent
    check_inside(directory, project)
    if directory.is_dir():
        with os.scandir(directory) as found:
            for entry in found:
                if entry.is_symlink():
                    check_inside(directory / entry.name, project)
    ours = directory.name == ".promptfuzz" or not directory.exists()
    responses = directory / "responses"
    responses.mkdir(parents=True, exist_ok=True)
    for each in (directory, responses) if ours else (responses,):
        with contextlib.suppress(OSError):
            if each.stat().st_mode & 0o077:
                each.chmod(0o700)
    ignore = (directory if ours else responses) / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


# JSON as files of what was have it.


_NUMBERS = expression(
    r"\[\n\s+((?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\])(?:,\n\s+(?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\]))*)\n\s+\]"
)
_ROWS = expression(r",\n\s+")


def as_text(value: Any) -> str:
    """JSON on one row as people read it: see ``files.to_json``."""
    return to_json(value, separators=(",", ":"))


def encoded(value: Any, *, indent: int | None = None) -> bytes:
    """The same as bytes, or indented; without a line feed at its end."""
    text = as_text(value) if indent is None else _numbers_together(to_json(value, indent=indent))
    return text.encode("utf-8")


def _numbers_together(text: str) -> str:
    """Indented JSON whose lists of numbers, and lists of these, stand on one row; no text holds a line feed there."""
    while (shorter := _NUMBERS.sub(lambda found: f"[{_ROWS.sub(', ', found[1])}]", text)) != text:
        text = shorter
    return text
