"""``promptfuzz cache diff``: show what changed in recordings, by test: between two files, or since a git commit."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.cache.stats import day, recordings_in
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import UsageError, unstopped
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line
from pytest_promptfuzz.storage.recordings.checks import RecordingChange, answers_in, difference
from pytest_promptfuzz.storage.recordings.entries import HEADER
from pytest_promptfuzz.storage.recordings.files import RecordingFile
from pytest_promptfuzz.storage.recordings.places import is_recording
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.storage.recordings.checks import Kind
    from pytest_promptfuzz.storage.recordings.entries import CallPlace
    from pytest_promptfuzz.storage.recordings.files import Problem


# Recordings as a git commit has them.


def commits(named: str, folder: Path) -> tuple[str, str | None]:
    """What ``A``, ``A..B`` or ``A...B`` names: the commit before, and the one after (``None``: the files now).

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    before, dots, after = named.partition("...") if "..." in named else named.partition("..")
    if not dots:
        return named, None
    before, after = before or "HEAD", after or "HEAD"
    if dots == "...":
        while not folder.is_dir():
            folder = folder.parent
        before = _git(folder, "merge-base", "--end-of-options", before, after).decode("ascii").strip()
    return before, after


def recordings_at(ref: str, folder: Path) -> list[Path]:
    """The recordings in a folder and below, as a commit has them.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    names = _git(folder, "ls-tree", "-r", "-z", "--name-only", ref, "--", ".").decode(
        "utf-8", "surrogateescape"
    )
    return [folder / name for name in names.split("\0") if is_recording(Path(name))]


def content_at(ref: str, path: Path) -> bytes | None:
    """A file as a commit has it; ``None`` where it has none of that name.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    folder = path.parent
    while not folder.is_dir():  # the recording's own folder may be gone
        folder = folder.parent
    name = path.relative_to(folder).as_posix()
    if not _git(folder, "ls-tree", "-z", "--name-only", ref, "--", name):
        return None
    return _git(folder, "show", f"{ref}:./{name}")


_TWO_FILES = "Compare two files: promptfuzz cache diff OLD NEW."


def _git(folder: Path, *arguments: str) -> bytes:
    if arguments[1].startswith("-") and arguments[0] == "show":
        raise UsageError(f"{arguments[1]!r} is not a commit.")
    try:
        done = subprocess.run(  # noqa: S603 - git itself, a commit and a path
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the person uses
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"git cannot be run ({error.strerror or error}). {_TWO_FILES}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        first = unstopped(said[0] if said else "it failed").removeprefix("fatal: ")
        if "not a git repository" in first:
            raise UsageError(f"{folder.absolute()} is not in a git repository. {_TWO_FILES}")
        if "HEAD" in arguments and "HEAD" in first:
            raise UsageError(f"this repository has no commit to compare with. {_TWO_FILES}")
        raise UsageError(f"git: {first}. Name a commit of this repository.")
    return done.stdout


_SHOWN = 4
_SAID = {
    "answer": "has another answer",
    "edited": "was edited after it was recorded: its checksum does not match",
    "request": "sends another request",
    "plan": "has another plan of mutations",
    "replanned": "has other mutations of the same prompt, under the same settings",
}


class _RecordingStates(NamedTuple):
    """Two states of one recording; a state without a file holds nothing."""

    path: Path
    old: RecordingFile
    new: RecordingFile


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "diff",
        help="show what changed in recordings, by test",
        description=(
            "promptfuzz cache diff: show what changed in recordings, by test: between two files, or "
            "since a git commit."
        ),
        epilog="exit codes: 0: no answer changed, 1: an answer or the mutations of a prompt changed, or a line was "
        "edited or is damaged, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="two recordings, the old and the new; or one recording, test module or folder to compare with a commit "
        "(.)",
    )
    parser.add_argument(
        "--against",
        metavar="COMMIT",
        help="the commit to compare with (HEAD); A..B compares two commits, A...B what B changed since it left A",
    )
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Compare; returns the exit code.

    Raises:
        UsageError: A path or the commit is wrong.
    """
    if len(options.paths) > 2 or (len(options.paths) == 2 and options.against is not None):
        raise UsageError("name two recordings, or one path and --against COMMIT.")
    if options.against is not None and options.against.startswith("-"):
        raise UsageError(f"--against {options.against}: this is not a commit.")
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as folder:
        if len(options.paths) == 2:
            pairs = [_files(*map(Path, options.paths))]
        else:
            pairs = list(_since(options.against or "HEAD", options.paths, Path(folder)))
        elsewhere = answers_in(pair.old for pair in pairs)
        found = [(pair, difference(pair.old, pair.new, elsewhere)) for pair in pairs]
        damaged = list(dict.fromkeys(each for pair in pairs for each in pair.new.problems))
    kinds = Counter(change.kind for _, changes in found for change in changes)
    if options.json:
        output.json(
            {
                "recordings": [
                    {"path": str(pair.path), "changes": [_plain(each) for each in changes]}
                    for pair, changes in found
                ],
                "answered_otherwise": kinds["answer"],
                "replanned": kinds["replanned"],
                "edited": kinds["edited"],
                "problems": [str(each) for each in damaged],
            }
        )
    else:
        output.lines(_lines([each for each in found if each[1]], damaged, kinds, len(pairs)))
    return 1 if _against(kinds) or damaged else 0


def _against(kinds: Counter[Kind]) -> int:
    """How many changes no recording run makes of the same prompt and settings."""
    return kinds["answer"] + kinds["edited"] + kinds["replanned"]


def _files(old: Path, new: Path) -> _RecordingStates:
    for path in (old, new):
        if not path.is_file():
            raise UsageError(f"{path} is not a file. Name two recordings, or one path and --against COMMIT.")
    first, second = RecordingFile(old), RecordingFile(new)
    for each in (first, second):
        if each.refused:
            raise UsageError(str(each.problems[0]))
    return _RecordingStates(new, first, second)


def _since(ref: str, paths: list[str], folder: Path) -> Iterator[_RecordingStates]:
    """Each recording now, or at a second commit, and at a commit; those that are gone since as well."""
    given = Path(paths[0]) if paths else Path()
    ref, then = commits(ref, given)
    if given.is_dir():
        now = set(recordings_in([str(given)]) if then is None else recordings_at(then, given))
        here = sorted(now | set(recordings_at(ref, given)))
    elif is_recording(given):
        here = [given]
    else:
        here = recordings_in([str(given)])
    empty = folder / "empty.calls.jsonl"
    empty.write_text(str(HEADER).replace("'", '"') + "\n", encoding="utf-8")
    for number, path in enumerate(here):
        old = _at(ref, path, folder / f"{number}-old")
        new = (
            _at(then, path, folder / f"{number}-new") if then is not None else path if path.exists() else None
        )
        if old is None and new is None:
            raise UsageError(f"{path} exists neither {f'in {then}' if then else 'here'} nor in {ref}.")
        yield _RecordingStates(path, RecordingFile(old or empty), RecordingFile(new or empty))


def _at(ref: str, path: Path, folder: Path) -> Path | None:
    """A recording as a commit has it, in a file of its own; ``None`` where it has none."""
    content = content_at(ref, path)
    if content is None:
        return None
    folder.mkdir()
    (folder / path.name).write_bytes(content)
    return folder / path.name


def _lines(
    found: list[tuple[_RecordingStates, list[RecordingChange]]],
    damaged: list[Problem],
    kinds: Counter[Kind],
    compared: int,
) -> list[Line]:
    lines: list[Line] = []
    for pair, changes in found:
        lines.append([(str(pair.path), "heading")])
        lines += [[("  ", "plain"), HANG, (text, style)] for text, style in _shown(changes)]
    said = {(pair.new.path, change.line) for pair, changes in found for change in changes if change.line}
    lines += [[(str(each), "bad")] for each in damaged if (each.path, each.line) not in said]
    if not found and not damaged:
        return [[(f"Nothing changed in {counted(compared, 'recording')}.", "good")]]
    verdict = _verdict([change for _, changes in found for change in changes], kinds)
    return [*lines, [(verdict, "bad" if _against(kinds) or damaged else "plain")]]


def _verdict(changes: list[RecordingChange], kinds: Counter[Kind]) -> str:
    """All changes in one sentence."""
    whole = Counter(change.kind for change in changes if change.place is None)
    again = {change.test for change in changes if change.kind == "asked-again"}
    single = [
        (kinds["added"] - whole["added"], "request", "added"),
        (kinds["removed"] - whole["removed"], "request", "removed"),
        (kinds["request"], "request", "changed"),
        (kinds["plan"], "plan", "changed"),
    ]
    parts = [(whole["added"], "test", "added"), (whole["removed"], "test", "removed")]
    parts += [(len(again), "test", "recorded again"), *single]
    parts += [(kinds["edited"], "answer", "edited by hand and not used")]
    parts += [(kinds["replanned"], "plan", "changed though its prompt and settings did not")]
    said = ", ".join(f"{counted(number, noun)} {what}" for number, noun, what in parts if number)
    answers = f"{counted(kinds['answer'], 'answer')} changed" if kinds["answer"] else "no answer changed"
    return f"{said}; {answers}." if said else f"{answers}."


def _shown(changes: list[RecordingChange]) -> Iterator[tuple[str, Any]]:
    """A line for each change; answers that are the same when asked again are one line for each test."""
    again = Counter(change.test for change in changes if change.kind == "asked-again")
    others = {change.test for change in changes if change.kind != "asked-again"}
    told: set[str] = set()
    for change in changes:
        if change.kind != "asked-again":
            yield _said(change), _style(change)
        elif change.test not in told:
            told.add(change.test)
            number, every = again[change.test], "" if change.test in others else "all "
            same = "1 answer is" if number == 1 else f"{every}{number} answers are"
            yield f"{change.test}: recorded again, {same} the same{_dates(change)}", _style(change)


def _style(change: RecordingChange) -> Any:
    return {"answer": "bad", "edited": "bad", "replanned": "bad", "added": "good"}.get(change.kind, "plain")


def _said(change: RecordingChange) -> str:
    if change.place is None and change.kind in {"added", "removed"}:
        return f"{change.test}: {change.kind}"
    where = f"{change.test}, {_where(change.place)}:" if change.place is not None else f"{change.test}"
    said = _SAID.get(change.kind, change.kind)
    said = f"line {change.line} {said}" if change.line else said
    at = ""
    if change.paths:
        more = f" and {len(change.paths) - _SHOWN} more" if len(change.paths) > _SHOWN else ""
        at = f" ({', '.join(change.paths[:_SHOWN])}{more})"
    return f"{where} {said}{at}{'' if change.line else _dates(change)}"


def _where(place: CallPlace) -> str:
    run = f"trial {place.trial}" if place.trial else "baseline"
    extra = f" sample {place.sample}" if place.sample else ""
    case = f" of input {place.case}" if place.case else ""
    call = f", call {place.call}" if place.call else ""
    return f"{run}{extra}{case}{call}"


def _dates(change: RecordingChange) -> str:
    old, new = (day(each.created) if each is not None else "" for each in (change.old, change.new))
    if old and new:
        return f"; answered {new}, before {old}" if old != new else f"; answered {new}, as before"
    return f"; answered {new or old}" if new or old else ""


def _plain(change: RecordingChange) -> dict[str, Any]:
    place = change.place
    return {
        "test": change.test,
        "kind": change.kind,
        "place": None
        if place is None
        else {"case": place.case, "sample": place.sample, "trial": place.trial, "call": place.call},
        "paths": list(change.paths),
        "answered_before": None if change.old is None else change.old.created,
        "answered_now": None if change.new is None else change.new.created,
    }
