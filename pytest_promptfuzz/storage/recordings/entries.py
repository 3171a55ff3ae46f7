"""One line of a recording, an exchange or a plan, as JSON with a checksum; the spool of a recording run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import to_json
from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.claims import FileClaim
from pytest_promptfuzz.storage.secrets import OLD, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


VERSION = 1
KIND = "calls"
HEADER = {"promptfuzz": KIND, "version": VERSION}

REFUSAL_SAMPLES = 1 << 16
"""From this number on, samples were asked only to tell what was refused: no run has as many others before it."""

_STREAM = "text/event-stream"
_JSON = "application/json"
_CHECK_DIGITS = 16


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where in a test a call was made.

    Attributes:
        case: Which example or input of the test, from 0.
        sample: Which sample of the baseline, from 0; of a trial ``None`` for the first, then from 1.
        trial: The trial's ID; empty in a baseline.
        call: Which call of the run, from 0.
    """

    case: int
    sample: int | None = None
    trial: str = ""
    call: int = 0


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A recorded exchange: where it was made first, the key that finds it, and the answer with its request."""

    test: str
    place: CallPlace
    key: str
    answer: StoredAnswer


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """The plan of mutations that a case's exchanges answer.

    Attributes:
        test: The test, as pytest names it within its module.
        case: Which example or input of it, from 0.
        plan: ``prompt`` (digest of the prompt), ``asked`` (the settings it was made from), ``begun`` (when) and
            ``mutations``, in order.
    """

    test: str
    case: int
    plan: dict[str, Any]


def to_line(entry: RecordedExchange | PlanEntry) -> bytes:
    """A whole line, its end included. ``from_line`` reverses it."""
    if isinstance(entry, PlanEntry):
        return sealed({"test": entry.test, "case": entry.case, "plan": entry.plan})
    place = entry.place
    where: dict[str, Any] = {"trial": place.trial} if place.trial else {}
    if place.sample is not None:
        where["sample"] = place.sample
    head = {"test": entry.test, "case": place.case, **where, "call": place.call}
    return sealed({**head, **answer_to_json(entry.key, entry.answer)})


class EditedError(StoreError):
    """A line was changed after it was written. ``value`` is what stands there now, which nothing vouches for."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__("this line was edited after it was recorded")
        self.value = value

    def entry(self) -> RecordedExchange | PlanEntry | None:
        """The entry that the line is now; ``None`` where it is none any more."""
        try:
            return _entry(self.value)
        except StoreError:
            return None


def from_line(line: bytes) -> RecordedExchange | PlanEntry:
    """The entry in a line.

    Raises:
        StoreError: It is none, is cut off, or (as ``EditedError``) was changed after it was written.
    """
    return _entry(unsealed(line))


def _entry(value: dict[str, Any]) -> RecordedExchange | PlanEntry:
    test, case = value.get("test"), value.get("case")
    if not isinstance(test, str) or not _is_index(case):
        raise StoreError("the entry names no test")
    if "plan" in value:
        plan = value["plan"]
        if not isinstance(plan, dict) or not isinstance(plan.get("mutations"), list):
            raise StoreError("the plan is no plan")
        return PlanEntry(test, case, plan)
    trial, sample, call = value.get("trial", ""), value.get("sample"), value.get("call")
    if not isinstance(trial, str) or not _is_index(call) or not _is_place(trial, sample):
        raise StoreError("the entry does not say which call it is")
    return RecordedExchange(test, CallPlace(case, sample, trial, call), *answer_of_json(value))


def _is_place(trial: str, sample: Any) -> bool:
    if trial:
        return sample is None or (_is_index(sample) and sample > 0)
    return _is_index(sample)


def sealed(value: dict[str, Any]) -> bytes:
    """A line of JSON with a checksum, so that a change by hand or by a bad merge is noticed."""
    return _dumps({**value, "check": _check(value)}) + b"\n"


def unsealed(line: bytes) -> dict[str, Any]:
    """The JSON object in a sealed line, without its checksum.

    Raises:
        StoreError: It is none, is cut off, or (as ``EditedError``) was changed after it was written.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        cut = not line.endswith(b"\n")
        raise StoreError("this line is cut off" if cut else "this line is not JSON") from None
    if not isinstance(value, dict):
        raise StoreError("this line is not a JSON object")
    check = value.pop("check", None)
    if check != _check(value):
        raise EditedError(value)
    return value


def answer_to_json(key: str, answer: StoredAnswer) -> dict[str, Any]:
    """An answer and its request as JSON: what people read first, nothing where it is as usual."""
    value: dict[str, Any] = {"url": answer.url}
    if answer.headers:
        value["headers"] = dict(sorted(answer.headers.items()))
    value["request"] = _sorted(answer.request)
    value["status"] = answer.status
    value["answer"] = answer.body if answer.streamed else _readable(answer.body)
    if answer.streamed:
        value["stream"] = True
    if answer.ignore:
        value["ignore"] = list(answer.ignore)
    if answer.backend != "live":
        value["backend"] = answer.backend
    if answer.rules != OLD.version:
        value["redaction"] = answer.rules
    return {**value, "answered": to_time(answer.created), "key": key}


def answer_of_json(value: dict[str, Any]) -> tuple[str, StoredAnswer]:
    """The key and the answer that ``answer_to_json`` wrote.

    Raises:
        StoreError: A part is missing or of another type.
    """
    body = value.get("answer")
    found = {
        "key": value.get("key"),
        "url": value.get("url"),
        "request": value.get("request"),
        "status": value.get("status"),
        "headers": value.get("headers", {}),
        "ignore": value.get("ignore", []),
        "backend": value.get("backend", "live"),
        "redaction": value.get("redaction", OLD.version),
    }
    kinds = {
        "key": str,
        "url": str,
        "request": dict,
        "status": int,
        "headers": dict,
        "ignore": list,
        "backend": str,
        "redaction": int,
    }
    for name, kind in kinds.items():
        if not isinstance(found[name], kind):
            raise StoreError(
                f"the entry's {name} is {'missing' if found[name] is None else 'of another type'}"
            )
    if not isinstance(body, str | dict):
        raise StoreError("the entry's answer is missing")
    return found["key"], StoredAnswer(
        url=found["url"],
        request=found["request"],
        status=found["status"],
        content_type=_STREAM if value.get("stream") is True else _JSON,
        body=body if isinstance(body, str) else json.dumps(body, separators=(",", ":")),
        created=from_time(value.get("answered")),
        backend=found["backend"],
        headers=found["headers"],
        ignore=tuple(found["ignore"]),
        rules=found["redaction"],
    )


def to_time(seconds: float) -> str:
    """Seconds since the epoch as a person reads them, UTC.

    >>> to_time(0.9)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_time(text: object) -> float:
    """The seconds since the epoch that ``to_time`` wrote.

    Raises:
        StoreError: It is no such time.
    """
    try:
        return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except (ValueError, OverflowError):
        raise StoreError(f"the entry's time is {text!r:.40}") from None


def _check(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_CHECK_DIGITS]


def _dumps(value: Any) -> bytes:
    return to_json(value).encode("utf-8")


def _sorted(value: Any) -> Any:
    """A JSON value with the keys of its objects in order; a request's key does not depend on it."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _readable(body: str) -> Any:
    """A body as a JSON object, in its own order of keys; as text where an object would not be the same."""
    try:
        value = json.loads(body, object_pairs_hook=_once)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return body
    return value if isinstance(value, dict) else body


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# What a recording run has been answered so far: one file a test, appended to, so that a killed run
# loses nothing.


_KIND = "spool"

ENDING = ".spool.jsonl"


@dataclass(frozen=True, slots=True)
class Finished:
    """A test whose recording is complete and waits to be put into its file.

    Attributes:
        path: The spool.
        recording: The file it belongs into.
        test: The test, as pytest names it within its module.
        plans: Its plans.
        entries: Its exchanges.
        former: The recordings and names that it had before, whose place this takes.
        outdated: Keys whose earlier lines hold something that is hidden by now.
        recorded: Keys of the answers that were recorded before, and were not asked again.
        unasked: How many of these the test did not ask for.
        dropped: How many that were recorded go, since their input was changed.
    """

    path: Path
    recording: Path
    test: str
    plans: tuple[PlanEntry, ...]
    entries: tuple[RecordedExchange, ...]
    former: tuple[tuple[Path, str], ...] = ()
    outdated: frozenset[str] = frozenset()
    recorded: frozenset[str] = frozenset()
    unasked: int = 0
    dropped: int = 0


class RunClaim:
    """Tells other recording runs that one is under way: what it was answered is not theirs until it ends.

    What a dead process held is free.

    Args:
        folder: Where spools lie.
        run: The run; all processes that record in it have the same.

    Raises:
        OSError: The folder cannot be made.
    """

    def __init__(self, folder: Path, run: str) -> None:
        _make(folder)
        # Where files cannot be locked, every run takes over what another left; each writes all that it was answered.
        self._claim = FileClaim(folder / "runs", run, failed=lambda _: None)

    def begin(self) -> bool:
        """The run begins; whether it was not under way before."""
        return self._claim.take()

    def end(self) -> None:
        """The run is over."""
        self._claim.release()


def _is_under_way(folder: Path, run: str) -> bool:
    if not run:
        return False
    claim = RunClaim(folder, run)
    free = claim.begin()
    if free:
        claim.end()
    return not free


class Spool:
    """The answers to one test, as they come.

    Each run has a file of its own, so that runs at the same time are not in each other's way. What runs left that are
    over goes on in it.

    Args:
        folder: Where spools lie.
        recording: The file that the test's recording belongs into.
        test: The test, as pytest names it within its module.
        run: The recording run, a word.
        fits: Whether an answer that an earlier run left may be served again.

    Attributes:
        fits: As above.
        recorded: The keys of answers that come from the recording.
        resumed: The keys of answers that an earlier run left, as long as no other was given under them.
        kept: How many answers of an earlier run that did not come to its end are served again.
        since: When the oldest of them was answered, in seconds since 1970; 0.0 where there is none.
        aside: What an earlier run left here and could not be read, under the name that it has now.

    Raises:
        StoreError: The spool cannot be read or begun.
    """

    def __init__(
        self,
        folder: Path,
        recording: Path,
        test: str,
        *,
        run: str = "",
        fits: Callable[[StoredAnswer], bool] = lambda _: True,
    ) -> None:
        owner = f"{recording.as_posix()}\0{test}".encode("utf-8", "surrogatepass")
        name = hashlib.sha256(owner).hexdigest()[:32]
        self.path = folder / f"{name}{f'.{run}' if run else ''}{ENDING}"
        self.test = test
        self._head = sealed(
            {"promptfuzz": _KIND, "version": VERSION, "recording": str(recording), "test": test}
        )
        self.fits = fits
        self._answers: dict[str, StoredAnswer] = {}
        self.recorded: set[str] = set()
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []  # lines that a full disk did not take: each later one tries again
        self._cut = False  # whether the file ends within a line: what comes next stays apart from it
        self.aside: Path | None = None
        try:
            for left in sorted(folder.glob(f"{name}*{ENDING}")):
                if left != self.path and not _is_under_way(folder, _run_of(left)):
                    self._take_over(left)
            known = os.path.lexists(self.path) and self._take_up()
            if not known:
                self._begin()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self.resumed = set(self._answers)
        self.kept = len(self._answers)
        self.since = min((each.created for each in self._answers.values()), default=0.0)

    def _take_over(self, left: Path) -> None:
        """Let what a run that is over left be this run's; another run that begins now may be faster."""
        with contextlib.suppress(FileNotFoundError):
            if not os.path.lexists(self.path):
                left.rename(self.path)
                return
            try:
                _read(left)
            except (OSError, StoreError):
                self.aside = _set_aside(left)
                return
            self._append(b"\n" + left.read_bytes())
            self._cut = True
            left.unlink()

    def _take_up(self) -> bool:
        """Go on with what an earlier run left; whether it has its first line. What cannot be read is set aside."""
        try:
            found = _read(self.path)
        except (OSError, StoreError):
            self.aside = _set_aside(self.path)
            return False
        # Keys of other rules would be mixed with today's. What was recorded before stands in the recording.
        self._answers = {
            key: answer
            for key, answer in found.answers.items()
            if answer.rules == RULES.version and key not in found.recorded and self.fits(answer)
        }
        content = self.path.read_bytes()
        self._cut = bool(content) and not content.endswith(b"\n")
        return (
            found.head is not None
        )  # a full disk or a kill may have cut it off: the file's name says whose it is

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        with self._lock:
            return self._answers.get(key)

    def keep(self, key: str, answer: StoredAnswer, *, recorded: bool = False) -> None:
        """Append an answer; it is safe when this returns.

        Args:
            key: Of the answer.
            answer: The answer.
            recorded: Whether it comes from the recording: a later run does not take it for one that was given now.

        Raises:
            StoreError: It cannot be written.
        """
        with self._lock:
            self._answers[key] = answer
            self.resumed.discard(key)
            (self.recorded.add if recorded else self.recorded.discard)(key)
            self._put(self._line(key))

    def _line(self, key: str) -> bytes:
        mark = {"recorded": True} if key in self.recorded else {}
        return sealed({**answer_to_json(key, self._answers[key]), **mark})

    def end(
        self,
        plans: list[PlanEntry],
        places: dict[str, CallPlace],
        former: Sequence[tuple[Path, str]] = (),
        outdated: Sequence[str] = (),
        *,
        unasked: int = 0,
        dropped: int = 0,
    ) -> None:
        """The test is complete.

        Args:
            plans: What its recording is made of.
            places: As well: where each answer stands.
            former: The recordings whose place it takes.
            outdated: The keys of which no earlier line may stay.
            unasked: How many of the answers this run did not ask for.
            dropped: How many that were recorded go, since their input was changed.

        Raises:
            StoreError: It cannot be written.
        """
        end = {
            "plans": [[each.case, each.plan] for each in plans],
            "places": [[key, at.case, at.sample, at.trial, at.call] for key, at in places.items()],
            "former": [[str(path), test] for path, test in former],
            "outdated": list(outdated),
            "unasked": unasked,
            "dropped": dropped,
        }
        with self._lock:
            self._put(sealed({"end": end}))

    def discard(self) -> None:
        """Nothing of it is needed: the recording holds all that was asked."""
        with self._lock, contextlib.suppress(OSError):
            self.path.unlink()

    def _put(self, line: bytes) -> None:
        self._waiting.append(line)
        try:
            while self._waiting:
                try:
                    self._append(self._waiting[0])
                except FileNotFoundError:  # removed: what this run was answered is written again
                    self._cut = False
                    self._begin()
                    self._waiting = [*map(self._line, self._answers), *self._waiting]
                else:
                    del self._waiting[0]
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None

    def _begin(self) -> None:
        _make(self.path.parent)
        self._append(self._head, opener=_private)

    def _append(self, line: bytes, opener: Callable[[str, int], int] | None = None) -> None:
        """Write a line at the file's end; the file is made only where an opener for that is given."""
        line, self._cut = (b"\n" + line if self._cut else line), True
        with open(self.path, "ab", buffering=0, opener=opener or _as_it_is) as file:
            while line:
                line = line[file.write(line) :]
        self._cut = False


def _make(folder: Path) -> None:
    """A folder for its owner's eyes, and none of git's business."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _as_it_is(path: str, flags: int) -> int:
    return os.open(path, flags & ~os.O_CREAT)


def _set_aside(path: Path) -> Path:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.unread-{number}")):
        number += 1
    path.rename(aside)
    return aside


def _run_of(path: Path) -> str:
    """The run whose spool a file is; empty in files of earlier versions."""
    return path.name.removesuffix(ENDING).partition(".")[2]


def finished(folder: Path, run: str = "") -> Iterator[Finished]:
    """The tests whose recordings wait to be put into their files, in the order of their spools' names.

    Args:
        folder: Where spools lie.
        run: The run that asks. Those of other runs that are under way are left to them.
    """
    for path in sorted(folder.glob(f"*{ENDING}")):
        if _run_of(path) != run and _is_under_way(folder, _run_of(path)):
            continue
        try:
            found = _read(path)
        except (StoreError, OSError):
            continue  # said when the test is recorded again
        head, answers, end = found.head, found.answers, found.end
        if head is None or end is None:
            continue
        test = head["test"]
        places = {key: CallPlace(*at) for key, *at in end["places"]}
        yield Finished(
            path,
            Path(head["recording"]),
            test,
            tuple(PlanEntry(test, case, plan) for case, plan in end["plans"]),
            tuple(
                RecordedExchange(test, at, key, answers[key]) for key, at in places.items() if key in answers
            ),
            tuple((Path(recording), name) for recording, name in end.get("former", ())),
            frozenset(end.get("outdated", ())),
            frozenset(found.recorded & places.keys()),
            end.get("unasked", 0),
            end.get("dropped", 0),
        )


def written(path: Path, *, over: bool) -> None:
    """A finished test stands in its recording.

    Args:
        path: Its spool.
        over: Whether the spool is done with; else its answers are kept for the next recording run.
    """
    with contextlib.suppress(OSError):  # the same lines are then written once more
        if over:
            path.unlink()
        else:
            with path.open("ab", buffering=0) as file:
                file.write(sealed({"written": True}))


def waiting(folder: Path) -> int:
    """How many tests have a spool that is not in its recording."""
    left = folder.glob(f"*{ENDING}")
    return len({path.name.partition(".")[0] for path in left if not _is_written(path)})


def _is_written(path: Path) -> bool:
    try:
        return _read(path).written
    except (StoreError, OSError):
        return False


@dataclass(slots=True)
class _SpoolContent:
    """What a spool holds.

    Attributes:
        head: Its header.
        answers: By key; the latest counts.
        recorded: The keys of those that come from the recording.
        end: What it ends with, as long as that is not in the recording.
        written: Whether all of it is.
    """

    head: dict[str, Any] | None = None
    answers: dict[str, StoredAnswer] = field(default_factory=dict)
    recorded: set[str] = field(default_factory=set)
    end: dict[str, Any] | None = None
    written: bool = False


def _read(path: Path) -> _SpoolContent:
    """What a spool holds.

    Raises:
        OSError: It cannot be opened.
        StoreError: It is of another release.
    """
    found = _SpoolContent()
    for line in path.read_bytes().split(b"\n"):
        try:
            value = unsealed(line + b"\n")
            if value.get("promptfuzz") is not None:
                found.head = value
            elif "written" in value:
                found.end, found.written = None, True
            elif "end" in value:
                found.end, found.written = value["end"], False
            else:
                key, answer = answer_of_json(value)
                found.answers[key] = answer
                (found.recorded.add if value.get("recorded") is True else found.recorded.discard)(key)
                found.written = False
        except StoreError:
            continue  # half a line of a killed process; its answer is asked for again
    head = found.head
    if head is not None and (head["promptfuzz"], head.get("version")) != (_KIND, VERSION):
        raise StoreError(f"{path} is no spool of this release.")
    return found
