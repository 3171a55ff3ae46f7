"""Which batches are under way: names and IDs in a file, so that another process can go on."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FORMAT = 1


@dataclass(slots=True)
class Submitted:
    """One batch.

    Attributes:
        provider: ``openai`` or ``anthropic``.
        token: What the batch is called in its metadata.
        names: The IDs of its requests.
        id: The provider's; empty as long as the provider has not said it.
        before: The ID of the provider's latest batch before this one, where the token is of no use.
    """

    provider: str
    token: str
    names: list[str]
    id: str = ""
    before: str = ""


class Underway:
    """The batches under way, in ``<folder>/prefill.json``.

    Args:
        folder: The project's ``.promptfuzz``.

    Raises:
        StoreError: The file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "prefill.json"
        self.batches: list[Submitted] = []
        if self.path.exists():
            self.batches = self._read()

    def save(self) -> None:
        """Write, whole or not at all; durable when it returns.

        Raises:
            StoreError: It cannot be written; what was there is as it was.
        """
        work = self.path.with_suffix(".new")
        value = {"format": _FORMAT, "batches": [asdict(each) for each in self.batches]}
        try:
            with work.open("w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            work.replace(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written ({error.strerror or error}), and no batch is submitted that it does "
                "not name. Free some space, or mend its permissions."
            ) from None

    def _read(self) -> list[Submitted]:
        try:
            value = json.loads(read_text(self.path))
            version, batches = value["format"], [Submitted(**each) for each in value["batches"]]
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            raise self._unreadable(str(error)) from None
        if version != _FORMAT:
            raise self._unreadable(f"its format is {version!r:.20}; this release reads {_FORMAT}")
        if not all(isinstance(each.names, list) and isinstance(each.id, str) for each in batches):
            raise self._unreadable("a batch has no names or no ID")
        return batches

    def _unreadable(self, why: str) -> StoreError:
        return StoreError(
            f"{self.path} cannot be read ({why}). It names the batches under way; delete it to forget them, and what "
            "they were asked is paid for again."
        )


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let no other process prefill from this folder while the block lasts; what a dead one held is free.

    Raises:
        StoreError: Another process does, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(folder / "prefill.lock", timeout=0.2, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unwritable(folder, error) from None
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if "locked" not in str(error):
                raise _unwritable(folder, error) from None
            raise StoreError(
                f"Another prefill is at work in {folder} ({error}). Wait for it to end."
            ) from None
        yield


def _unwritable(folder: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{folder} cannot be written ({getattr(error, 'strerror', None) or error}), so no batch can be submitted. Free "
        "some space, or mend its permissions."
    )
