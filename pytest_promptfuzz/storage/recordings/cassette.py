"""`Cassette`: what is recorded of one test. It serves a run, keeps new answers, and says why it has no answer."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, quoted
from pytest_promptfuzz.storage.answers import nearest_difference
from pytest_promptfuzz.storage.recordings.files import RecordedTest
from pytest_promptfuzz.storage.secrets import RULES
from pytest_promptfuzz.text.json_paths import at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.providers.requests import WireRequest
    from pytest_promptfuzz.storage.answers import AnswerStore, RequestDifference, StoredAnswer
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange, Spool
    from pytest_promptfuzz.storage.recordings.former_tests import FormerTest
    from pytest_promptfuzz.storage.redaction import Redaction


_SHOWN_PATHS = 6
_SHOWN_VALUE = 40  # characters of a value
_SHOWN_BEFORE = 12  # of them before the first that differs
_MEND = (
    "Record what is missing with --promptfuzz-mode=record-missing (and --promptfuzz-update if the test has a "
    "snapshot), and commit it."
)
_MEND_EDITED = "record the test again with --promptfuzz-mode=record, and commit the recording."


class Cassette:
    """What is recorded of one test.

    Args:
        recorded: What its recording holds.
        file: The recording's name, for messages.
        spool: Where this run's answers go, if it records. What is recorded and does not fit there serves nothing.
        strict: Nothing may be asked that is not recorded.
        cache: The local cache, only to say of what is missing that it is there.
        former: Gives the recordings of tests with another name that asked the same: the digest of a plan's prompt, or
            the key of an answer.
        anew: Whether this run records everything anew: what is recorded serves nothing.

    Attributes:
        strict: As above.
        file: As above.
        anew: As above.
        notes: Sentences the person must see.
        served: Keys of the answers that were given from the recording.
        former: The tests with another name whose recordings gave something.
        unwritten: Whether an answer could not be written: the run does not record all that it asked.
    """

    def __init__(
        self,
        *,
        recorded: RecordedTest | None = None,
        file: str = "",
        spool: Spool | None = None,
        strict: bool = False,
        cache: AnswerStore | None = None,
        former: Callable[[str], Sequence[FormerTest]] = lambda _: (),
        anew: bool = False,
    ) -> None:
        self.strict = strict
        self.file = file
        self.anew = anew
        self.notes: list[str] = []
        self.served: set[str] = set()
        self.former: list[FormerTest] = []
        self.unwritten = False
        self._recorded = recorded or RecordedTest()
        self._find_former = former
        self._spool = spool
        self._answers = {
            entry.key: entry.answer for entry in self._recorded.entries if anew or self._fits(entry.answer)
        }
        self._cache = cache
        self._lock = threading.Lock()

    @property
    def recording(self) -> bool:
        """Whether this run records."""
        return self._spool is not None

    @property
    def has_plans(self) -> bool:
        """Whether any plan is recorded of the test."""
        return bool(self._recorded.plans)

    @property
    def rules(self) -> int:
        """The version of the redaction rules that its keys are computed under; the newest, where a merge mixed two."""
        if self.recording:
            return RULES.version
        return max((each.answer.rules for each in self._entries()), default=RULES.version)

    @property
    def simulated_version(self) -> str:
        """The version of the simulated model that answered; empty where another did."""
        every = (each.answer.backend for each in self._entries())
        backends = (each for each in every if each.startswith("simulated/"))
        return next(backends, "").removeprefix("simulated/").partition("?")[0]

    @property
    def samples(self) -> int:
        """How many answers to the unmutated prompt are recorded, of one input at least."""
        places = (entry.place for entry in self._entries())
        return 1 + max((at.sample for at in places if not at.trial and at.sample is not None), default=-1)

    @property
    def alone(self) -> bool:
        """Whether nothing but the tape may serve the test: it is replayed, or recorded anew."""
        return self.strict or self.recording

    @property
    def refused(self) -> str:
        """Why nothing of the recording's file can be used; empty where it can."""
        return self._recorded.refused

    @property
    def empty(self) -> bool:
        """Whether nothing is recorded of the test."""
        return not self._answers and not self._recorded.plans and not self.former

    def get(self, key: str) -> StoredAnswer | None:
        """The recorded answer under ``key``, or ``None``."""
        answer = self._spool.get(key) if self._spool is not None else None
        if answer is not None or self.anew:
            return answer
        answer = self._answers.get(key)
        if answer is None:
            answer = self._former_answer(key)
        if answer is not None:
            with self._lock:
                self.served.add(key)
        return answer

    def answers(self) -> list[StoredAnswer]:
        """Every recorded answer of the test, in the order of the file."""
        return [each.answer for each in self._entries()]

    def _entries(self) -> list[RecordedExchange]:
        """What is recorded of the test, under its name and under those that it had."""
        return [*self._recorded.entries, *(entry for each in self.former for entry in each.recorded.entries)]

    def _fits(self, answer: StoredAnswer) -> bool:
        """Whether an answer may stay as it was recorded."""
        return self._spool is None or self._spool.fits(answer)

    def _former_answer(self, key: str) -> StoredAnswer | None:
        for each in self._find_former(key):
            found = next((entry.answer for entry in each.recorded.entries if entry.key == key), None)
            if found is not None and self._fits(found):
                with self._lock:
                    self._answers.setdefault(key, found)
                    self._took(each)
                return found
        return None

    def _took(self, former: FormerTest) -> None:
        if all(each.recorded is not former.recorded for each in self.former):
            self.former.append(former)

    def keep(self, key: str, answer: StoredAnswer) -> None:
        """Record an answer, if this run records; a disk that takes no more is said once, and nothing is lost."""
        if self._spool is None:
            return
        try:
            self._spool.keep(key, answer)
        except StoreError as error:
            self._unwritten(error)

    def plan(self, digest: str, asked: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """The plan that is recorded for a prompt, or ``None``.

        Args:
            digest: Of the prompt.
            asked: The settings that a plan of a test with another name must have been made from.
        """
        found = _plan_in(self._recorded, digest)
        if found is not None or self.anew:
            return found
        for each in self._find_former(digest):
            found = _plan_in(each.recorded, digest)
            if found is not None and asked in (None, found.get("asked")):
                return found
        return None

    def missing(
        self,
        wire: WireRequest,
        key: str,
        trial: str,
        *,
        who: str,
        ignore: Sequence[str],
        keying: Redaction,
        redaction: Redaction,
    ) -> str:
        """Why a call may not be made: which run's it is, and how it differs from the nearest recorded request.

        Args:
            wire: The request.
            key: Of its answer.
            trial: The mutation of the run; empty for none.
            who: The run, for people.
            ignore: JSON paths of bodies that do not count.
            keying: What is hidden before keys are computed.
            redaction: What is hidden before anything is shown.
        """
        if self.empty and not self.refused:
            return (
                "the test has no recording. Record it with --promptfuzz-mode=record-missing (and --promptfuzz-update "
                f"if it is to have a snapshot), and commit {self.file}"
            )
        edited = self._recorded.edited_answer(key)
        if edited is not None:
            why = self._edited(edited[0])
            return f"{who} has no answer: {why}. Restore the line as it was committed, or {_MEND_EDITED}"
        if self._cache is not None and self._cache.get(key) is not None:
            return f"the recording has no answer for {who}; only the local cache has one, and CI does not. {_MEND}"
        if self.refused:
            return f"{self.file} cannot be used: {self.refused}"
        entries = self._entries()
        same = [entry.answer for entry in entries if entry.place.trial == trial] or [
            entry.answer for entry in entries
        ]
        near = nearest_difference(same, wire, ignore=ignore, redaction=keying)
        return f"{_nearness(who, near, redaction)}. {_MEND}"

    def difference(
        self, wire: WireRequest, *, ignore: Sequence[str], keying: Redaction, redaction: Redaction
    ) -> str:
        """How a request that the recording does not answer differs from the nearest recorded one, as a clause.

        Args:
            wire: The request.
            ignore: JSON paths of bodies that do not count.
            keying: What is hidden before keys are computed.
            redaction: What is hidden before anything is shown.
        """
        near = nearest_difference(self.answers(), wire, ignore=ignore, redaction=keying)
        return _nearness("the baseline", near, redaction)

    def mend(self) -> str:
        """What to do where the test's plan cannot be used: what was edited by hand is replaced by ``record`` only."""
        return f"R{_MEND_EDITED[1:]}" if self._recorded.edited_plan() is not None else _MEND

    def edited_plan(self) -> str:
        """That the test's plan was edited, and where; empty where it was not."""
        line = self._recorded.edited_plan()
        return "" if line is None else self._edited(line)

    def _edited(self, line: int) -> str:
        return f"{self.file}:{line} was edited after it was recorded and is not used"

    def _unwritten(self, error: StoreError) -> None:
        note = f"{error} What this test is answered is not recorded; free some space and record it again."
        with self._lock:
            self.unwritten = True
            if note not in self.notes:
                self.notes.append(note)


def _plan_in(recorded: RecordedTest, digest: str) -> dict[str, Any] | None:
    return next((each.plan for each in recorded.plans if each.plan.get("prompt") == digest), None)


def _nearness(who: str, near: RequestDifference | None, redaction: Redaction) -> str:
    """How the request of a run differs from the nearest that is recorded, as a clause."""
    if near is None:
        return f"the recording has no call of {who}"
    if not near.paths:
        return f"{who} makes one more call than the recording has"
    shown = ", ".join(_place(path, near, redaction) for path in near.paths[:_SHOWN_PATHS])
    more = " and more" if len(near.paths) > _SHOWN_PATHS else ""
    return f"the request of {who} differs from the recording at {shown}{more}"


def _place(path: str, difference: RequestDifference, redaction: Redaction) -> str:
    """A path with what both requests have there, texts cut to where they differ."""
    both = [at(value, path) for value in (difference.known, difference.asked)]
    values = [redaction.json(value) for _, value in both]
    start = 0
    if all(isinstance(value, str) for value in values):
        pairs = enumerate(zip(*values, strict=False))
        same = next((n for n, (one, other) in pairs if one != other), min(map(len, values)))
        start = max(0, same - _SHOWN_BEFORE)
    before, now = (
        _value(value, start) if there else "without it"
        for value, (there, _) in zip(values, both, strict=True)
    )
    return f"{path} (recorded {before}, now {now})"


def _value(value: Any, start: int) -> str:
    """A JSON value, shortened; of a text what begins at ``start``."""
    if isinstance(value, str):
        return quoted("…" + value[start:] if start else value, _SHOWN_VALUE)
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_VALUE else text[:_SHOWN_VALUE] + "…"
