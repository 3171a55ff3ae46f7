"""Files that somebody else may have put there: no pipe is waited for, no link leads out of a project, all is shown."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.expressions import expression

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
