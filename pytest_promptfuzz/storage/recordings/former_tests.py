"""Recordings of tests that have another name by now: found by what was asked, whatever the test was called."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.storage.recordings.places import module_of
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.node_ids import function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile

    Gone = Callable[[Path, str], bool]


# What a request is found by: the digest of a plan's prompt, or the key of an answer.
_ASKED = expression(r'"(?:prompt|key)": "([0-9a-f]{32}(?:[0-9a-f]{32}-\d+-\d+)?)"')


class FormerTest(NamedTuple):
    """What is recorded of a test under another name.

    Attributes:
        module: Its test module, whether or not that exists.
        test: Its name there.
        gone: Whether it is certain that no test has this name any more.
        recorded: What is recorded.
        path: The recording.
    """

    module: Path
    test: str
    gone: bool
    recorded: RecordedTest
    path: Path


class FormerRecordings:
    """The recordings in which a test under its former name is looked for.

    Args:
        files: Gives the recordings of the project.
        gone: Tells whether it is certain that no test of a module has a name any more.
        seems_gone: Tells whether it seems so.
    """

    def __init__(self, files: Callable[[], Iterable[RecordingFile]], gone: Gone, seems_gone: Gone) -> None:
        self._files = files
        self._gone = gone
        self._seems_gone = seems_gone
        self._index: dict[str, list[tuple[RecordingFile, str]]] | None = None
        self._read: dict[tuple[Path, str], RecordedTest] = {}

    def find(self, asked: str, module: Path, test: str) -> Sequence[FormerTest]:
        """The tests under whose name this was asked, those likest to a test first.

        Other parameters of its own function count, whether or not they are gone, since their IDs may have shifted.

        Args:
            asked: The digest of a plan's prompt, or the key of an answer.
            module: The test module.
            test: The test, as pytest names it within the module.
        """
        found: list[tuple[tuple[bool, bool], FormerTest]] = []
        for file, name in self._asked().get(asked, ()):
            there = module_of(file.path)
            if (there, name) == (module, test):
                continue
            like = function_of(name) == function_of(test)
            sibling = there == module and name.partition("[")[0] == test.partition("[")[0]
            if sibling or self._seems_gone(there, name):
                gone = self._gone(there, name)
                former = FormerTest(there, name, gone, self._recorded(file, name), file.path)
                found.append(((there != module, not like), former))
        return [each for _, each in sorted(found, key=lambda one: one[0])]

    def _recorded(self, file: RecordingFile, test: str) -> RecordedTest:
        place = (file.path, test)
        if place not in self._read:
            self._read[place] = file.read(test)
        return self._read[place]

    def _asked(self) -> dict[str, list[tuple[RecordingFile, str]]]:
        """By what was asked, the tests under whose names it was."""
        if self._index is None:
            self._index = {}
            for file in self._files():
                for test in file.tests:
                    text = b"".join(file.lines(test)).decode("utf-8", "replace")
                    for asked in dict.fromkeys(_ASKED.findall(text)):
                        self._index.setdefault(asked, []).append((file, test))
        return self._index
