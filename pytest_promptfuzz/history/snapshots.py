"""Where snapshots lie: ``__promptfuzz__/<module>.snap/<test>.json`` beside the test module, one file a test.

Two branches of git then conflict only where both changed the same test. A file is named like its test where that is
safe in every file system; otherwise what is not becomes ``_``, and a part of the name's hash tells it from others.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.files import check_inside, read_text
from pytest_promptfuzz.history.rows import encoded
from pytest_promptfuzz.history.snapshot import FORMAT, KIND, Snapshot
from pytest_promptfuzz.wire.recordings.places import FOLDER
from pytest_promptfuzz.wire.recordings.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ENDING = ".snap"
ATTRIBUTES = "*.json text eol=lf\n"
_MEND = "Restore it from git, or delete it and store the test anew with --promptfuzz-update."
_LONGEST = 80
_KEPT = 60
_SAFE = re.compile(r"[a-z0-9_]+")
_DEVICES = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
"""Names that Windows keeps for itself, whatever ending they have."""
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


def slug(test: str) -> str:
    """The name of a test's file, without its ending: at most 80 characters, different for different tests.

    >>> slug("test_triage"), slug("TestA::test_b[x/1]")
    ('test_triage', 'testa_test_b_x_1-2c8047e6ab')
    """
    if _SAFE.fullmatch(test) and len(test) <= _LONGEST and not _DEVICES.fullmatch(test):
        return test
    digest = hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    plain = re.sub(r"[^a-z0-9]+", "_", test.lower()).strip("_")[:_KEPT]
    return f"{plain}-{digest}"


def folder_of(module: Path) -> Path:
    """Where the snapshots of a test module's tests lie, whether or not the folder exists.

    >>> from pathlib import Path
    >>> folder_of(Path("tests/test_it.py")).as_posix()
    'tests/__promptfuzz__/test_it.snap'
    """
    return module.parent / FOLDER / f"{module.name.removesuffix('.py')}{ENDING}"


def path_of(module: Path, test: str) -> Path:
    """The file of a test, whether or not it exists."""
    return folder_of(module) / f"{slug(test)}.json"


def module_of(folder: Path) -> Path:
    """The test module that a folder of snapshots belongs to, whether or not it exists."""
    name = folder.name.removesuffix(ENDING)
    beside = folder.parent.parent
    return beside / name if (beside / name).is_file() else beside / f"{name}.py"


def files_in(folder: Path) -> list[Path]:
    """The snapshots of a folder, in order; none where there is no folder."""
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def folders_below(root: Path) -> list[Path]:
    """Every folder of snapshots in a folder and below, in order; those whose names begin with a dot are left out."""
    import os

    found: list[Path] = []
    for folder, folders, _ in os.walk(root):
        here = type(root)(folder)
        if here.name == FOLDER:
            found += [here / name for name in folders if name.endswith(ENDING)]
            folders.clear()
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
    return sorted(found)


def read(path: Path) -> Snapshot | None:
    """What a file holds; ``None`` where there is none.

    Raises:
        StoreError: It cannot be read, holds conflict markers or other damage, or is of another kind or version.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise StoreError(
            f"{path.parent} is no folder, and snapshots of its module belong into one of that name. Remove "
            "the file, and store them anew with --promptfuzz-update."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read ({error}). {_MEND}") from None
    return parsed(text, path)


def parsed(text: str, path: Path) -> Snapshot:
    """What a file holds.

    Args:
        text: Its content.
        path: Where it lies, for messages.

    Raises:
        StoreError: It holds conflict markers or other damage, or is of another kind or version.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        marked = _marked(text)
        if marked:
            raise StoreError(
                f"{path}, line {marked}: a merge left conflict markers. Keep one side of each (git checkout --ours or "
                "--theirs), or delete the file and store the test anew with --promptfuzz-update."
            ) from None
        raise StoreError(f"{path} is damaged: it is no JSON ({error}). {_MEND}") from None
    if not isinstance(data, dict) or data.get("promptfuzz") != KIND:
        raise StoreError(f"{path} holds no snapshot of a test. {_MEND}")
    if data.get("format") != FORMAT:
        raise StoreError(
            f"{path} is of format {data.get('format')!r}, and this version of pytest-promptfuzz reads {FORMAT}. Use "
            "the version that wrote it, or delete it and store the test anew with --promptfuzz-update."
        )
    try:
        return Snapshot.from_json(data)
    except UsageError as error:
        raise StoreError(f"{path} is damaged: {str(error).rstrip('.')}. {_MEND}") from None


def read_of(module: Path, test: str) -> Snapshot | None:
    """The snapshot of a test; ``None`` where there is none.

    Raises:
        StoreError: As :func:`read`, or the file holds that of another test.
    """
    path = path_of(module, test)
    found = read(path)
    if found is not None and found.test != test:
        raise StoreError(
            f"{path} holds the snapshot of {found.test}, whose file is {slug(found.test)}.json. {_MEND}"
        )
    return found


def write(module: Path, snapshot: Snapshot, *, project: Path | None = None) -> bool:
    """Write a test's snapshot, at once; no other file is touched.

    Args:
        module: The test module.
        snapshot: Of one of its tests.
        project: The project's root: where symbolic links in it lead out of it, nothing is written.

    Returns:
        Whether anything changed.

    Raises:
        StoreError: It cannot be written; what was there is as it was.
    """
    path = path_of(module, snapshot.test)
    if project is not None:
        check_inside(path, project)
    data = encoded(snapshot.to_json(), indent=2) + b"\n"
    attributes = path.parent / ".gitattributes"
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        if path.is_dir():
            raise StoreError(f"{path} is a folder, where the snapshot of {snapshot.test} belongs. Remove it.")
    except OSError:
        pass  # writing says what is wrong
    write_whole(path, data, attributes=False)
    if not attributes.exists():
        write_whole(attributes, ATTRIBUTES.encode("ascii"), attributes=False)
    return True


def remove(path: Path) -> None:
    """Delete a snapshot, and its folder with the last one.

    Raises:
        StoreError: It cannot be deleted.
    """
    try:
        path.unlink(missing_ok=True)
        if {each.name for each in path.parent.iterdir()} <= {".gitattributes"}:
            (path.parent / ".gitattributes").unlink(missing_ok=True)
            path.parent.rmdir()
    except OSError as error:
        raise StoreError(f"{path} cannot be deleted ({error.strerror or error}).") from None


def claimed_twice(paths: Iterable[Path]) -> list[str]:
    """A sentence for each test that two files claim to be the snapshot of; files that cannot be read are left out."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        try:
            each = read(path)
        except StoreError:
            continue
        if each is not None:
            found.setdefault(each.test, []).append(path)
    return [
        f"{', '.join(str(each) for each in those[:-1])} and {those[-1]} {'both' if len(those) == 2 else 'all'} "
        f"claim to be the snapshot of {test}; it is read from {slug(test)}.json: delete the "
        f"{'other' if len(those) == 2 else 'others'}"
        for test, those in found.items()
        if len(those) > 1
    ]


def _marked(text: str) -> int:
    """The number of the first line that is a conflict marker; 0 without one."""
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if line.startswith(_MARKERS)), 0)
