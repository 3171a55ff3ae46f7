"""Comments of program text: where they stand, and which of them say nothing but what the code does."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.source_blocks import SLOT
from pytest_promptfuzz.mutations.source_python import tokens, tree_of

# Words only: no code that is commented out, no value, no label, no slot, no directive with a colon.
_PLAIN = expression(r"(?P<mark>#|//) ?(?P<words>[A-Za-z][a-z]*(?:[ ,;'-]+[A-Za-z]+)+[.]?)\Z")
# What a tool reads, and what asks for work.
_DIRECTIVE = expression(
    r"\b(?:todo|fixme|xxx|hack|noqa|pragma|pylint|nosec|fmt|isort|mypy|ruff|pyright|flake8|yapf|nolint|eslint|prettier"
    r"|istanbul|region|endregion|your|implement|complete|fill|insert|write|add your|coding)\b",
    re.IGNORECASE,
)
# What says more than the code does: what it expects, and how it ought to be.
_TELLING = expression(
    r"\b(?:note|warning|important|caution|bug|bugs|buggy|error|wrong|fix|expected?|examples?|e\.g|outputs?|returns?|inputs?"
    r"|prints?|hint|must|should|shall|assumes?|never|only|always|guaranteed?|license|copyright|author|deprecated|unsafe"
    r"|precondition|invariant|here|begin|end|start|stop|not|no|do not|without|except|unless|before|after)\b",
    re.IGNORECASE,
)
# What code does is told by a verb first; a noun ("weekly wage", "in metres") tells what the code does not.
_DOING = IMPERATIVES | words(
    """
    append close collect copy cut divide double drop get increment initialise initialize iterate join load loop merge
    mix move multiply open pop push rename reset reverse round save scale set shift shuffle skip store strip subtract
    sum swap trim try update wait walk
    """
)
_LINE = expression(r"^[ \t]*(?P<comment>//[^\n]*?)[ \t\r]*$", re.MULTILINE)
_UNCLEAR = expression(r"`|/\*|\"\"\"|'''|\bR\"|<<-?\s?['\"A-Z]|\\\n")


class Comment(NamedTuple):
    """A plain comment.

    Attributes:
        start: Where it begins, with its mark.
        end: Where it ends.
        first: Where what must go begins, if it is taken out: with the space before it, or its whole line.
        last: Where that ends.
        alone: Whether it has a line of its own.
        words: Its text without the mark.
        idle: Whether it says nothing but what the code does.
    """

    start: int
    end: int
    first: int
    last: int
    alone: bool
    words: str
    idle: bool

    def moved(self, by: int) -> Comment:
        """The same comment, ``by`` characters further on."""
        return self._replace(
            start=self.start + by, end=self.end + by, first=self.first + by, last=self.last + by
        )


def python_comments(program: str) -> list[Comment]:
    """The plain comments of a Python program; none if it cannot be read or holds no statement."""
    tree = tree_of(program)
    if tree is None or not tree.body:
        return []
    found = [
        _comment(program, each.start, each.end) for each in tokens(program) or () if each.kind == "comment"
    ]
    return [each for each in found if each is not None]


def line_comments(program: str) -> list[Comment]:
    """The plain comments with ``//`` that have a line of their own, of a language with such comments."""
    if _UNCLEAR.search(program):
        return []
    found = [_comment(program, *match.span("comment")) for match in _LINE.finditer(program)]
    return [each for each in found if each is not None and each.last - each.first < len(program.strip())]


def _comment(program: str, start: int, end: int) -> Comment | None:
    text = program[start:end].rstrip()
    plain = _PLAIN.match(text)
    if plain is None or _DIRECTIVE.search(text) or SLOT.search(text):
        return None
    said = plain["words"]
    idle = said.split()[0].lower() in _DOING and not _TELLING.search(said)
    stop = start + len(text)
    line = program.rfind("\n", 0, start) + 1
    alone = not program[line:start].strip()
    if not alone:
        first = line + len(program[line:start].rstrip())
        return Comment(start, stop, first, end, False, said, idle)
    after = program.find("\n", end)
    first, last = (line, after + 1) if after >= 0 else (max(0, line - 1), len(program))
    return Comment(start, stop, first, last, True, said, idle)
