"""``promptfuzz cache diff``: show what changed in recordings, by test: between two files, or since a git commit."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.cache.stats import day, recordings_in
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import StoreError, UsageError, quoted, unstopped
from pytest_promptfuzz.history.snapshots import path_of, read
from pytest_promptfuzz.history.trial_labels import label_of
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line
from pytest_promptfuzz.storage.recordings.checks import RecordingChange, answers_in, difference
from pytest_promptfuzz.storage.recordings.entries import HEADER
from pytest_promptfuzz.storage.recordings.files import RecordingFile
from pytest_promptfuzz.storage.recordings.places import is_recording, module_of
from pytest_promptfuzz.storage.recordings.unchanged_answers import differs_by_model_alone, response_in
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
_WIDTH = 60  # characters of an answer
_BEFORE = 20  # of them before what differs, in a long one
_SAID = {
    "answer": "has another answer",
    "edited": "was edited after it was recorded: its checksum does not match",
    "request": "sends another request",
    "plan": "has another plan of mutations",
    "replanned": "has other mutations of the same prompt, under the same settings",
}
_MANY = {
    "added": "added",
    "removed": "removed",
    "request": "changed",
}  # of requests, said in one line where many are


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
        found = _with_renames([(pair, difference(pair.old, pair.new, elsewhere)) for pair in pairs])
        damaged = list(dict.fromkeys(each for pair in pairs for each in pair.new.problems))
        kinds = Counter(change.kind for _, changes in found for change in changes)
        # Plans are read for it, which of a commit lie in that folder.
        lines = (
            [] if options.json else _lines([each for each in found if each[1]], damaged, kinds, len(pairs))
        )
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
        output.lines(lines)
    return 1 if _against(kinds) or damaged else 0


_Found = list[tuple[_RecordingStates, list[RecordingChange]]]


def _with_renames(found: _Found) -> _Found:
    """The changes, with one in the place of two where a test that is new asks just what a test asked that is gone."""
    whole = [(pair, each) for pair, changes in found for each in changes if each.place is None]
    gone: dict[frozenset[str], list[tuple[_RecordingStates, str]]] = {}
    for pair, each in whole:
        if each.kind == "removed":
            gone.setdefault(_keys(pair.old, each.test), []).append((pair, each.test))
    renamed: dict[tuple[Path, str], str] = {}
    left: set[tuple[Path, str]] = set()
    for pair, each in whole:
        keys = _keys(pair.new, each.test)
        former = gone.get(keys, []) if keys and each.kind == "added" else []
        if former:
            nearest = min(former, key=lambda one: (one[0].path != pair.path, one[1] != each.test))
            former.remove(nearest)
            before, name = nearest
            same = before.path == pair.path
            renamed[pair.path, each.test] = name if same else f"{module_of(before.path).name}::{name}"
            left.add((before.path, name))

    def changed(pair: _RecordingStates, each: RecordingChange) -> RecordingChange | None:
        if each.place is None and each.kind == "removed" and (pair.path, each.test) in left:
            return None
        if each.place is None and each.kind == "added" and (pair.path, each.test) in renamed:
            return each._replace(kind="renamed", former=renamed[pair.path, each.test])
        return each

    return [
        (pair, [now for each in changes if (now := changed(pair, each)) is not None])
        for pair, changes in found
    ]


def _keys(file: RecordingFile, test: str) -> frozenset[str]:
    return frozenset(each.key for each in file.read(test).entries)


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
        lines += [[("  ", "plain"), HANG, (text, style)] for text, style in _shown(pair, changes)]
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
    parts += [(kinds["renamed"], "test", "renamed"), (len(again), "test", "recorded again"), *single]
    parts += [(kinds["edited"], "answer", "edited by hand and not used")]
    parts += [(kinds["replanned"], "plan", "changed though its prompt and settings did not")]
    said = ", ".join(f"{counted(number, noun)} {what}" for number, noun, what in parts if number)
    answers = f"{counted(kinds['answer'], 'answer')} changed" if kinds["answer"] else "no answer changed"
    if models := sum(map(_is_of_model, changes)):
        answers += f", {models:,} of them in nothing but the model"
    return f"{said}; {answers}." if said else f"{answers}."


def _is_of_model(change: RecordingChange) -> bool:
    old, new = change.old, change.new
    return (
        change.kind == "answer" and old is not None and new is not None and differs_by_model_alone(old, new)
    )


def _texts(change: RecordingChange) -> tuple[str, str] | None:
    """The old and the new text of an answer; ``None`` where these are not what differs, or cannot be read."""
    if change.kind != "answer" or change.old is None or change.new is None:
        return None
    old, new = response_in(change.old), response_in(change.new)
    same_request = change.old.request == change.new.request
    return (old.text, new.text) if old and new and old.text != new.text and same_request else None


def _shown(pair: _RecordingStates, changes: list[RecordingChange]) -> Iterator[tuple[str, Any]]:
    """A line for each change; of a test, one for all answers that were and are the same, and one for all asked again.

    A change of model is said once for the file.
    """
    yield from _models(changes)
    names = _TrialNames(pair)
    again = Counter(change.test for change in changes if change.kind == "asked-again")
    others = {change.test for change in changes if change.kind != "asked-again"}
    alike: dict[tuple[str, tuple[str, str]], list[RecordingChange]] = {}
    for change in changes:
        if texts := _texts(change):
            alike.setdefault((change.test, texts), []).append(change)
    kinds = Counter((each.test, each.kind) for each in changes if each.place is not None)
    many = {key: number for key, number in kinds.items() if key[1] in _MANY and number > _SHOWN}
    told: set[Any] = set()
    for change in changes:
        texts = _texts(change)
        if texts is not None:
            key = (change.test, texts)
            if key not in told:
                told.add(key)
                yield _answered(alike[key], texts, names), _style(change)
        elif _is_of_model(change):
            continue
        elif number := many.get((change.test, change.kind), 0):
            if (change.test, change.kind) not in told:
                told.add((change.test, change.kind))
                yield f"{change.test}: {counted(number, 'request')} {_MANY[change.kind]}", _style(change)
        elif change.kind != "asked-again":
            yield _said(change, names), _style(change)
        elif change.test not in told:
            told.add(change.test)
            number, every = again[change.test], "" if change.test in others else "all "
            same = "1 answer is" if number == 1 else f"{every}{number} answers are"
            yield f"{change.test}: recorded again, {same} the same{_dates(change)}", _style(change)


def _models(changes: list[RecordingChange]) -> Iterator[tuple[str, Any]]:
    """The models that answered before and answer now, where they are not the same."""
    found: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for change in changes:
        if change.kind == "answer" and change.old is not None and change.new is not None:
            old, new = response_in(change.old), response_in(change.new)
            if old and new and old.model != new.model:
                found[old.model, new.model] += 1
                alone[old.model, new.model] += _is_of_model(change)
    for pair, number in found.items():
        rest = f", {alone[pair]:,} of which say the same" if alone[pair] else ""
        yield f"the model changed: {pair[0]} → {pair[1]} ({counted(number, 'answer')}{rest})", "bad"


class _TrialNames:
    """What trials are called: as the test's snapshot has it, else by their operators and ID."""

    def __init__(self, pair: _RecordingStates) -> None:
        self._pair = pair
        self._known: dict[str, dict[tuple[int, str], str]] = {}

    def of(self, test: str, place: CallPlace) -> str:
        """The name of a trial; its ID where nothing else is known."""
        if test not in self._known:
            self._known[test] = {**self._by_operators(test), **self._in_snapshot(test)}
        known = self._known[test]
        return known.get((place.case, place.trial)) or known.get((-1, place.trial)) or place.trial

    def _by_operators(self, test: str) -> dict[tuple[int, str], str]:
        plans = [each.plan for file in (self._pair.old, self._pair.new) for each in file.read(test).plans]
        return {
            (-1, str(each.get("id"))): f"{label_of(map(str, each['operators']), ())} {each.get('id')}"
            for plan in plans
            for each in plan.get("mutations") or ()
            if isinstance(each, dict) and each.get("operators")
        }

    def _in_snapshot(self, test: str) -> dict[tuple[int, str], str]:
        try:
            snapshot = read(path_of(module_of(self._pair.path), test))
        except StoreError:
            snapshot = None
        if snapshot is None:
            return {}
        return {
            (number, trial): label
            for number, each in enumerate(snapshot.inputs)
            for trial, label in snapshot.labels.get(each.name, {}).items()
        }


def _answered(changes: list[RecordingChange], texts: tuple[str, str], names: _TrialNames) -> str:
    """Where a test had one answer, and now has another."""
    first = changes[0]
    places = [_where(each.place, each.test, names) for each in changes if each.place and each.place.trial]
    rest = [each.place for each in changes if each.place and not each.place.trial]
    if len(rest) == 1:
        places.insert(0, _where(rest[0], first.test, names))
    elif rest:
        places.insert(0, f"{len(rest)} of the baseline")
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    old, new = _beside(*texts)
    return f"{first.test}: {old} → {new} ({'; '.join(places[:_SHOWN])}{more}){_dates(first)}"


def _beside(old: str, new: str) -> tuple[str, str]:
    """Two texts in quotes, from shortly before where they differ."""
    same = next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
        min(len(old), len(new)),
    )
    start = same - _BEFORE if same > _WIDTH - _BEFORE else 0
    one, other = (quoted(f"…{each[start:]}" if start else each, _WIDTH) for each in (old, new))
    return one, other


def _style(change: RecordingChange) -> Any:
    return {"answer": "bad", "edited": "bad", "replanned": "bad", "added": "good"}.get(change.kind, "plain")


def _said(change: RecordingChange, names: _TrialNames) -> str:
    if change.place is None and change.kind in {"added", "removed"}:
        return f"{change.test}: {change.kind}"
    if change.kind == "renamed":
        return f"{change.test}: renamed, was {change.former}"
    where = (
        f"{change.test}, {_where(change.place, change.test, names)}:"
        if change.place is not None
        else f"{change.test}"
    )
    said = _SAID.get(change.kind, change.kind)
    said = f"line {change.line} {said}" if change.line else said
    at = ""
    if change.paths:
        more = f" and {len(change.paths) - _SHOWN} more" if len(change.paths) > _SHOWN else ""
        at = f" ({', '.join(change.paths[:_SHOWN])}{more})"
    return f"{where} {said}{at}{'' if change.line else _dates(change)}"


def _where(place: CallPlace, test: str, names: _TrialNames) -> str:
    run = f"trial {names.of(test, place)}" if place.trial else "baseline"
    extra = f" sample {place.sample}" if place.sample else ""
    case = f" of input {place.case}" if place.case else ""
    call = f", call {place.call}" if place.call else ""
    return f"{run}{extra}{case}{call}"


def _dates(change: RecordingChange) -> str:
    old, new = (day(each.created) if each is not None else "" for each in (change.old, change.new))
    if old and new:
        return f"; answered {new}, before {old}" if old != new else f"; both answered {new}"
    return f"; answered {new or old}" if new or old else ""


def _plain(change: RecordingChange) -> dict[str, Any]:
    place = change.place
    return {
        "test": change.test,
        "kind": change.kind,
        "place": None
        if place is None
        else {"case": place.case, "sample": place.sample, "trial": place.trial, "call": place.call},
        "former": change.former or None,
        "paths": list(change.paths),
        "answered_before": None if change.old is None else change.old.created,
        "answered_now": None if change.new is None else change.new.created,
    }
