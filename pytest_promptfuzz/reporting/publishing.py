"""Writing a run's report in a format to a place."""

from __future__ import annotations

import gc
import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import PromptfuzzError, StoreError, unstopped
from pytest_promptfuzz.reporting.formats import GITHUB, REPORTERS
from pytest_promptfuzz.wire.recordings.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_promptfuzz.reporting.document import Document


@contextmanager
def uncollected() -> Iterator[None]:
    """Have Python look for no garbage while reports are read and rendered.

    A large run's report is millions of objects, none of them garbage: to look through them again and again takes
    a third of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def check(name: str, path: Path) -> None:
    """Refuse what could not be published, before it is paid for.

    Raises:
        UsageError: Nobody knows the format.
        StoreError: The path is a folder, or lies where nothing can be written.
    """
    if name == GITHUB:
        return
    REPORTERS.one(name, f"the report {name}:{path}")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is no regular file, which a report could take the place of; name another.")
    above = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not above.is_dir():
        raise StoreError(f"{path} cannot be written: {above} is a file; name another place.")
    if not _can_write(path if path.exists() else above):
        raise StoreError(f"{path} cannot be written; mend its permissions, or name another place.")


def publish(
    document: Document, name: str, path: Path, *, shown: str, log: Callable[[str], object] = print
) -> str:
    """Write the report of a run.

    Args:
        document: The run.
        name: Of the format.
        path: Of the file, which is replaced at once; its folder is made.
        shown: The path as a person gave it.
        log: What ``github`` has for the log, a line at a time: workflow commands, to be printed as they are.

    Returns:
        A sentence on what was written.

    Raises:
        UsageError: Nobody knows the format.
        PromptfuzzError: It cannot be rendered or written; the old file is as it was.
    """
    if name == GITHUB:
        from pytest_promptfuzz.reporting.hosts import github

        return github(document, log)
    reporter = REPORTERS.one(name, f"the report {name}:{shown}")
    try:
        text = reporter.render(document)
    except Exception as error:
        raise PromptfuzzError(
            f"it cannot be rendered: {type(error).__name__}: {unstopped(error)}."
        ) from error
    content = text.encode("utf-8", "backslashreplace")
    write_whole(path, content, attributes=False)
    return f"wrote {shown} ({name}, {_size(len(content))})"


def _can_write(path: Path) -> bool:
    """Whether a file, or files in a folder, can be written: root may write by permission where nothing can be."""
    if not os.access(path, os.W_OK):
        return False
    if path.is_file():
        return True
    try:
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _size(count: int) -> str:
    """A number of bytes for people.

    >>> _size(512), _size(2048), _size(3_500_000)
    ('512 B', '2 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
