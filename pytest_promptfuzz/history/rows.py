"""Files in git beside a test module: a header line, then a line of JSON for each thing that is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.recordings.places import FOLDER
from pytest_promptfuzz.wire.recordings.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_MEND = "Restore it from git, or delete it and store the run anew with --promptfuzz-update."


class Kind(NamedTuple):
    """A kind of such file.

    Attributes:
        name: What the header says it holds: ``outcomes``.
        holds: What a line holds, for messages: ``outcomes of a test``.
        format: Of the lines.
    """

    name: str
    holds: str
    format: int

    def file_of(self, module: Path) -> Path:
        """Where it lies for a test module, whether or not it exists.

        >>> from pathlib import Path
        >>> Kind("outcomes", "outcomes of a test", 1).file_of(Path("tests/test_it.py")).as_posix()
        'tests/__promptfuzz__/test_it.outcomes.jsonl'
        """
        return module.parent / FOLDER / f"{module.name.removesuffix('.py')}.{self.name}.jsonl"

    def read(self, path: Path) -> Iterator[tuple[int, Any]]:
        """What each line holds, with its number; nothing where there is no file, ``None`` for what is no JSON.

        Raises:
            StoreError: It cannot be read, holds conflict markers, or is of another kind or version.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path} cannot be read ({error}). {_MEND}") from None
        for number, line in enumerate(lines, 1):
            if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
                raise StoreError(
                    f"{path}, line {number}: a merge left conflict markers. Keep one side of each."
                )
            try:
                each = json.loads(line)
            except ValueError:
                each = None
            if number == 1:
                self._check_header(each, path)
            else:
                yield number, each

    def damaged(self, path: Path, number: int, why: str = "") -> StoreError:
        """What is raised for a line that holds something else."""
        because = f" ({why})" if why else ""
        return StoreError(f"{path}, line {number} holds no {self.holds}{because}. {_MEND}")

    def write(self, path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write a file as a whole, in the order of the rows.

        Raises:
            StoreError: It cannot be written. It is as it was.
        """
        every = [{"promptfuzz": self.name, "format": self.format}, *rows]
        write_whole(path, b"".join(encoded(row) + b"\n" for row in every))

    def _check_header(self, header: Any, path: Path) -> None:
        if not isinstance(header, dict) or header.get("promptfuzz") != self.name:
            raise StoreError(f"{path} does not begin as a file of {self.name} does. {_MEND}")
        if header.get("format") != self.format:
            raise StoreError(
                f"{path} is of format {header.get('format')!r}, and this version of pytest-promptfuzz reads "
                f"{self.format}. Use the version that wrote it, or delete it and store the run anew with "
                "--promptfuzz-update."
            )


def encoded(row: Any) -> bytes:
    """A row as it is written: as people read it, or in ASCII where it holds what UTF-8 cannot."""
    try:
        return json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row).encode("ascii")
