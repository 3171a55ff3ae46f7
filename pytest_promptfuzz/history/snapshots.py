"""`Snapshot`: what a test's behaviour was when it was accepted; its JSON, and its file beside the test module.

Nothing in it changes from run to run without meaning, so that the same behaviour is the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.files import check_inside, encoded, read_text
from pytest_promptfuzz.history.entries import Letters, are_letters
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.storage.recordings.places import FOLDER
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from typing_extensions import Self

    from pytest_promptfuzz.results.counterexamples import KnownCounterexample


# JSON that people review: a text of several lines is a list of them, so that a diff shows the line that changed.
#
# Such a text becomes ``{"lines": ["first", "second"]}``. A dictionary that has this form by itself gets a backslash
# before its key, so that everything comes back as it was.


_KEY = "lines"


def folded(value: Any) -> Any:
    """A JSON value, its texts of several lines as lists of lines; :func:`unfolded` is the inverse.

    >>> folded({"answer": chr(10).join(["one", "two"])})
    {'answer': {'lines': ['one', 'two']}}
    """
    if isinstance(value, str):
        return {_KEY: value.split("\n")} if "\n" in value else value
    if isinstance(value, list):
        return [folded(each) for each in value]
    if isinstance(value, dict):
        if _is_form(value):
            ((key, inner),) = value.items()
            return {f"\\{key}": folded(inner)}
        return {key: folded(each) for key, each in value.items()}
    return value


def unfolded(value: Any) -> Any:
    """What :func:`folded` was given.

    Raises:
        ValueError: ``lines`` holds something other than texts.
    """
    if isinstance(value, list):
        return [unfolded(each) for each in value]
    if isinstance(value, dict):
        if _is_form(value):
            ((key, inner),) = value.items()
            if key != _KEY:
                return {key[1:]: unfolded(inner)}
            if not isinstance(inner, list) or not all(isinstance(each, str) for each in inner):
                raise ValueError(f"{_KEY!r} is a list of texts, not {inner!r:.60}")
            return "\n".join(inner)
        return {key: unfolded(each) for key, each in value.items()}
    return value


def _is_form(value: dict[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).lstrip("\\") == _KEY


KIND = "snapshot"
FORMAT = 2
EARLIER = frozenset({1})
"""Formats of earlier versions, which are read."""
_CREDITS = {"E": 10, "M": 7, "D": 0}
VERDICTS = frozenset({"pass", "brittle"})
"""What can be accepted: of other verdicts nobody knows what the behaviour is."""


class Sample(NamedTuple):
    """An answer to the unmutated prompt, as plain data; how often it came, and whether the test's own check failed."""

    answer: Any
    times: int = 1
    failed: bool = False


class SnapshotInput(NamedTuple):
    """An input, or the only one.

    Attributes:
        name: Of the input; its number where it has none.
        prompt: The prompt's digest.
        sent: The digest of all texts that its requests held; empty where none were seen.
        answers: To the unmutated prompt, each once, in the order in which they came; empty where nothing is compared.
        text: The prompt, where it is not that of the first input.
    """

    name: str
    prompt: str
    sent: str = ""
    answers: tuple[Sample, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was accepted of a test.

    Attributes:
        test: Its name in its module.
        verdict: ``pass`` or ``brittle``.
        score: Eq. 1, in [0, 1]; ``None`` of a search. It is written only where it does not follow from the trials.
        threshold: What the score was held against.
        target: By name.
        model: As answered.
        prompt: Its text; that of the first input where they differ.
        inputs: In order.
        compared: How answers are compared: names and versions, by what they are of.
        operators: The operators of its trials, ``name@version``.
        trials: What each trial came to, by input and ID: see ``history.entries.letters_of``.
        labels: What the trials are called, by input and ID; see ``history.trial_labels``.
        counterexamples: Those that are pinned.
    """

    test: str
    verdict: str
    score: float | None
    threshold: float
    target: str
    model: str
    prompt: str
    inputs: tuple[SnapshotInput, ...]
    compared: Mapping[str, Any] = field(default_factory=dict)
    operators: tuple[str, ...] = ()
    trials: Letters = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    counterexamples: tuple[KnownCounterexample, ...] = ()

    @property
    def asked(self) -> str:
        """What tells two tests apart: the prompt and all that is sent with it; empty where that is not known."""
        first = self.inputs[0] if self.inputs else None
        return f"{first.prompt} {first.sent}" if first is not None and first.sent else ""

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data, as files hold it; :meth:`from_json` is its inverse."""
        return {
            "promptfuzz": KIND,
            "format": FORMAT,
            "test": self.test,
            "verdict": self.verdict,
            **({} if self.score == score_of(self.trials) else {"score": self.score}),
            "threshold": self.threshold,
            "target": self.target,
            "model": self.model,
            "prompt": folded(self.prompt),
            "inputs": [
                _input_to_json(each, [trial for _, trial in self.labelled(each.name)]) for each in self.inputs
            ],
            "compared": folded(dict(sorted(self.compared.items()))),
            "operators": sorted(self.operators),
            "trials": {
                case: {label: letters[trial] for label, trial in self.labelled(case)}
                for case, letters in self.trials.items()
            },
            "counterexamples": [folded(value) for value, _ in self.pinned()],
        }

    def labelled(self, case: str) -> list[tuple[str, str]]:
        """The trials of an input, each by what it is called and by its ID, in the order of the former.

        The order of the plan says nothing to a reviewer, and may be another one with each change of the prompt.
        """
        labels = self.labels.get(case, {})
        return sorted((labels.get(trial, trial), trial) for trial in self.trials.get(case, {}))

    def pinned(self) -> list[tuple[dict[str, Any], KnownCounterexample]]:
        """The counterexamples as they are written, each with itself, in an order that follows from their texts."""
        if not self.counterexamples:
            return []
        from pytest_promptfuzz.history.pinned_texts import pinned_to_json

        found = []
        for each in self.counterexamples:
            value = pinned_to_json(each, self.prompt_of(each.found.case), self.target)
            found.append((_without(self.prompt, each.to_json()) if value is None else value, each))
        return sorted(found, key=lambda each: json.dumps(each[0], sort_keys=True))

    def prompt_of(self, case: int) -> str:
        """The prompt of an input."""
        text = self.inputs[case].text if case < len(self.inputs) else None
        return self.prompt if text is None else text

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """What :meth:`to_json` wrote.

        Raises:
            UsageError: A field is missing or of the wrong kind.
        """
        try:
            trials, labels = _trials_of(data)
            found = cls(
                _text(data, "test"),
                _verdict(data["verdict"]),
                _number(data["score"]) if "score" in data else score_of(trials),
                float(data["threshold"]),
                _text(data, "target"),
                _text(data, "model"),
                _text(data, "prompt"),
                tuple(_input_of(each) for each in data["inputs"]),
                unfolded(dict(data["compared"])),
                tuple(map(str, data["operators"])),
                trials,
                labels,
            )
            return replace(
                found, counterexamples=tuple(_known(each, found) for each in data["counterexamples"])
            )
        except KeyError as error:
            raise UsageError(f"it has no {error.args[0]!r}") from None
        except (TypeError, ValueError, AttributeError, IndexError) as error:
            raise UsageError(str(error).rstrip(".")) from None

    @property
    def digest(self) -> tuple[str, ...]:
        """What a test is known by whose name changed: name and prompt of each input."""
        return tuple(f"{each.name}={each.prompt}" for each in self.inputs)


class FormerSnapshot(NamedTuple):
    """The snapshot of a test under another name.

    Attributes:
        test: The node ID of that name.
        snapshot: It.
        gone: Whether it is certain that no test has that name any more, so that the snapshot may be renamed.
        sibling: Whether a test with other parameters seems to have that name still.
        left: Whether this sibling was seen to ask something else than its snapshot says.
    """

    test: str
    snapshot: Snapshot
    gone: bool
    sibling: bool = False
    left: bool = False


def score_of(trials: Letters) -> float | None:
    """Eq. 1 over the outcomes of trials, to four places; ``None`` where none was decided."""
    letters = "".join(found for each in trials.values() for found in each.values())
    decided = [_CREDITS[letter] for letter in letters if letter in _CREDITS]
    return round(sum(decided) / (10 * len(decided)), 4) if decided else None


def _trials_of(data: Any) -> tuple[Letters, dict[str, dict[str, str]]]:
    """What the trials came to by input and ID, and what they are called."""
    letters = _letters(data["trials"])
    if data["format"] in EARLIER:
        return letters, {}
    ids = {_text(each, "name"): _text(each, "trials").split() for each in data["inputs"] if "trials" in each}
    if any(len(set(those)) < len(those) for those in ids.values()):
        raise ValueError("an input names a trial twice")
    if any(len(ids.get(case, ())) != len(trials) for case, trials in letters.items()):
        raise ValueError("each trial has an ID, under its input, and an outcome")
    labels = {case: dict(zip(ids[case], trials, strict=True)) for case, trials in letters.items()}
    by_id = {case: dict(zip(ids[case], trials.values(), strict=True)) for case, trials in letters.items()}
    return by_id, labels


def _input_to_json(each: SnapshotInput, trials: Iterable[str]) -> dict[str, Any]:
    text = {} if each.text is None else {"text": folded(each.text)}
    return {
        "name": each.name,
        "prompt": each.prompt,
        "sent": each.sent,
        **({"trials": ids} if (ids := " ".join(trials)) else {}),
        **text,
        "answers": [
            {
                "times": one.times,
                **({"failed": True} if one.failed else {}),
                "answer": folded(one.answer),
            }
            for one in each.answers
        ],
    }


def _input_of(data: Any) -> SnapshotInput:
    answers = []
    for each in data["answers"]:
        times = each["times"]
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"an answer came a whole number of times, not {times!r:.40}")
        answers.append(Sample(unfolded(each["answer"]), times, bool(each.get("failed", False))))
    text = _text(data, "text") if "text" in data else None
    return SnapshotInput(
        _text(data, "name"), _text(data, "prompt"), _text(data, "sent"), tuple(answers), text
    )


def _without(prompt: str, known: dict[str, Any]) -> dict[str, Any]:
    """A counterexample without the prompt that it changes, where that is the snapshot's."""
    mutation = known["mutation"]
    if mutation["original"] != prompt:
        return known
    return {**known, "mutation": {key: each for key, each in mutation.items() if key != "original"}}


def _known(data: Any, snapshot: Snapshot) -> KnownCounterexample:
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample

    found, prompt = unfolded({key: value for key, value in data.items() if key != "id"}), snapshot.prompt
    if "mutation" not in found:
        from pytest_promptfuzz.history.pinned_texts import pinned_of_json

        case = found.get("case", 0)
        prompt = snapshot.prompt_of(case if isinstance(case, int) and case >= 0 else 0)
        return KnownCounterexample.from_json(pinned_of_json(found, prompt, snapshot.target))
    mutation = found.get("mutation")
    if isinstance(mutation, dict):
        found["mutation"] = {"original": prompt, **mutation}
    return KnownCounterexample.from_json(found)


def _verdict(value: Any) -> str:
    if value not in VERDICTS:
        raise ValueError(f"the verdict is 'pass' or 'brittle', not {value!r:.40}")
    return str(value)


def _letters(value: Any) -> Letters:
    if not are_letters(value):
        raise ValueError("trials are outcomes by input and ID, a letter of E, M, D or ? for each sample")
    return value  # type: ignore[no-any-return]  # it has their shape


def _text(data: Any, key: str) -> str:
    value = unfolded(data[key])
    if not isinstance(value, str):
        raise ValueError(f"{key!r} is a text, not {value!r:.60}")  # noqa: TRY004 - one kind for all that is damaged
    return value


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


# Where snapshots lie: ``__promptfuzz__/<module>.snap/<test>.json`` beside the test module, one file a test.
#
# Two branches of git then conflict only where both changed the same test. A file is named like its test where that is
# safe in every file system; otherwise what is not becomes ``_``, and a part of the name's hash tells it from others.


ENDING = ".snap"
ATTRIBUTES = "*.json text eol=lf\n"
_MEND = "Restore it from git, or delete it and run --promptfuzz-update."
_LONGEST = 80
_KEPT = 60
_SAFE = expression(r"[a-z0-9_]+")
_DEVICES = expression(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
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


def module_of_snapshots(folder: Path) -> Path:
    """The test module that a folder of snapshots belongs to, whether or not it exists."""
    name = folder.name.removesuffix(ENDING)
    beside = folder.parent.parent
    return beside / name if (beside / name).is_file() else beside / f"{name}.py"


def files_in(folder: Path) -> list[Path]:
    """The snapshots of a folder, in order; none where there is no folder."""
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def stored_below(root: Path) -> tuple[dict[str, Snapshot], dict[Path, str]]:
    """The snapshots in a folder and below, by node ID, and by file a sentence on each that cannot be read."""
    tests: dict[str, Snapshot] = {}
    problems: dict[Path, str] = {}
    for path in (file for folder in folders_below(root) for file in files_in(folder)):
        try:
            found = read(path)
        except StoreError as error:
            problems[path] = str(error)
            continue
        if found is not None:
            module = module_of_snapshots(path.parent).relative_to(root).as_posix()
            tests[f"{module}::{found.test}"] = found
    return tests, problems


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
                f"{path}, line {marked}: a merge left conflict markers. Keep one side (git checkout --ours or "
                "--theirs), or delete the file and run --promptfuzz-update."
            ) from None
        raise StoreError(f"{path} is not JSON{_line_of(error)}. {_MEND}") from None
    if not isinstance(data, dict) or data.get("promptfuzz") != KIND:
        raise StoreError(f"{path} is not the snapshot of a test. {_MEND}")
    known, format_ = sorted({FORMAT, *EARLIER}), data.get("format")
    if not isinstance(format_, int) or isinstance(format_, bool) or format_ not in known:
        raise StoreError(
            f"{path} has format {format_!r:.40}, but this version of pytest-promptfuzz reads "
            f"{' and '.join(map(str, known))}. Use the version that wrote it, or delete it and run --promptfuzz-update."
        )
    try:
        return Snapshot.from_json(data)
    except UsageError as error:
        raise StoreError(f"{path} is damaged: {str(error).rstrip('.')}. {_MEND}") from None


def _line_of(error: Exception) -> str:
    """Where a text is no JSON, as far as that is known."""
    return f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""


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
    from pytest_promptfuzz.storage.recordings.files import write_whole

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
    notes = [
        Note.of("history:snapshot-claimed", test=test, paths=[*map(str, those)], name=f"{slug(test)}.json")
        for test, those in found.items()
        if len(those) > 1
    ]
    return [*map(sentence, notes)]


def _marked(text: str) -> int:
    """The number of the first line that is a conflict marker; 0 without one."""
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if line.startswith(_MARKERS)), 0)
