"""`Tape`: one test's recording during a run: which runs used it, and whether it then holds all of the test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.answers import exchange_key
from pytest_promptfuzz.storage.recordings.cassette import Cassette
from pytest_promptfuzz.storage.recordings.entries import CallPlace, PlanEntry, to_time
from pytest_promptfuzz.storage.secrets import RULES
from pytest_promptfuzz.wire.network import MEND, is_local, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange, Spool
    from pytest_promptfuzz.storage.recordings.files import RecordedTest
    from pytest_promptfuzz.storage.recordings.former_tests import FormerTest
    from pytest_promptfuzz.wire.watch import Watch


_NOT_HELD = (
    "A recording holds model calls and nothing else that a provider is asked: no polled background responses, files, "
    "batches, audio or lists of models (docs/recording.md)"
)


@dataclass(slots=True)
class _TapeCase:
    plan: dict[str, Any] | None = None
    done: bool = False
    failed: bool = False
    again: bool = False
    watches: list[Watch] = field(default_factory=list)


class Tape(Cassette):
    """A cassette in one test's hands: which runs were made with it, and whether all of the test is recorded then.

    Args:
        where: The test, for messages.
        recorded: As ``Cassette``.
        file: As ``Cassette``.
        spool: As ``Cassette``.
        strict: As ``Cassette``.
        cache: As ``Cassette``.
        former: As ``Cassette``.
        anew: As ``Cassette``.

    Attributes:
        where: As above.
        complete: The name of the spool that holds all of the test, once it does.
        size: How many answers that are.
        already: How many of them were recorded before.
        resumed: How many of them a recording run left that was interrupted.
        barred: Whether what kept the test from being recorded stays until the test is changed.
    """

    def __init__(
        self,
        where: str,
        *,
        recorded: RecordedTest | None = None,
        file: str = "",
        spool: Spool | None = None,
        strict: bool = False,
        cache: AnswerStore | None = None,
        former: Callable[[str], Sequence[FormerTest]] = lambda _: (),
        anew: bool = False,
    ) -> None:
        super().__init__(
            recorded=recorded,
            file=file,
            spool=spool,
            strict=strict,
            cache=cache,
            former=former,
            anew=anew,
        )
        self.where = where
        self.complete = ""
        self.size = self.already = self.resumed = 0
        self.barred = False
        self._cases: list[_TapeCase] = []
        self._unasked = self._dropped = (
            0  # recorded answers that this run did not ask for: that stay, and that go
        )

    def begin(self) -> int:
        """A case begins; its number, from 0."""
        with self._lock:
            self._cases.append(_TapeCase())
            return len(self._cases) - 1

    def watched(self, case: int, watch: Watch) -> None:
        """A run of a case is about to be made."""
        with self._lock:
            self._cases[case].watches.append(watch)

    def forget(self, case: int) -> None:
        """The runs of a case are made again: what they were answered does not count."""
        with self._lock:
            before = self._keys_of(self._cases[case])
            self._cases[case].watches.clear()
            self._cases[case].again = True
            self.served -= before.difference(*map(self._keys_of, self._cases))

    @staticmethod
    def _keys_of(case: _TapeCase) -> set[str]:
        return {key for watch in case.watches for key, _ in _keys(watch)}

    def done(self, case: int, plan: dict[str, Any] | None, *, failed: bool = False) -> None:
        """Every run of a case was made; ``plan`` is what its mutations are recorded as.

        ``failed`` is whether the unmutated prompt failed, so that no mutation was tried.
        """
        self._cases[case].done = True
        self._cases[case].failed = failed
        self._cases[case].plan = plan

    def end(self) -> str:
        """The test is over. A recording run closes its recording, if it is complete.

        Returns:
            Why it is not complete; nothing if it is, or if this run does not record.
        """
        if self._spool is None or not self._cases:
            return ""
        barred = next((watch.network.barred for watch in self._watches() if watch.network.barred), "")
        if barred:
            self.barred = True
            return f"{barred}, so that a replay of the test would fail. {MEND}"
        beside = self._beside()
        if beside:
            self.barred = True
            return f"{beside}, so that a replay of the test would fail. {_NOT_HELD}"
        faults = [
            fault.message
            for watch in self._watches()
            for fault in watch.unrecovered()
            if _leaves_gap(fault.kind) and not watch.settings.part.spare
        ]
        if faults:
            return faults[0]
        if not all(case.done for case in self._cases):
            refused = [text for watch in self._watches() for text in watch.refused]
            self.barred = bool(refused)
            return refused[0] if refused else "not all of its runs were made"
        places = self._places()
        if any(case.failed for case in self._cases) and (self.has_plans or not places):
            was = "what was recorded of it before stays" if self.has_plans else "nothing was answered"
            return f"its unmutated prompt already fails, and {was}"
        try:
            if self._completed(self._spool, places):
                return ""
            if any(self._spool.get(key) is None for key in places):
                return "an answer was not stored: it holds something like a key, or was left before its end"
            replaced = self._replaced(places)
            former = [(each.path, each.test) for each in replaced]
            self._spool.end(
                self._plans(),
                places,
                former,
                self._outdated(places, replaced),
                unasked=self._unasked,
                dropped=self._dropped,
            )
        except StoreError as error:
            self.unwritten = True
            return str(error)
        self.complete, self.size = self._spool.path.name, len(places)
        self.already = len(self._spool.recorded & places.keys())
        self.resumed = len(self._spool.resumed & places.keys())
        return ""

    def _completed(self, spool: Spool, places: dict[str, CallPlace]) -> bool:
        """Complete what was asked by what is recorded; whether the recording holds all of it as it stands."""
        if self.anew:
            return False
        named = bool(self._recorded.plans or self._recorded.entries)
        gone = next((each.recorded for each in self.former if each.gone), self._recorded)
        before = self._recorded if named else gone
        own = {
            each.key: each
            for each in before.entries
            if each.answer.rules == RULES.version and (each.key in self._answers or self._fits(each.answer))
        }
        same = [each.plan for each in self._plans()] == [each.plan for each in before.plans]
        if named and same and places and all(key in own and spool.get(key) is None for key in places):
            spool.discard()
            return True
        for key in places:
            answer = self._answers.get(key)
            if spool.get(key) is None and answer is not None:
                spool.keep(key, answer, recorded=True)
        if same:  # what this run did not need, a test of the same plan may need another time
            changed = _changed_cases(before.entries, places)
            for key, each in own.items():
                if key in places or self._is_asked_again(each.place.case):
                    continue
                if each.place.case in changed:
                    self._dropped += 1
                    continue
                self._unasked += 1
                places[key] = each.place
                spool.keep(key, each.answer, recorded=True)
        return False

    def _is_asked_again(self, case: int) -> bool:
        return case < len(self._cases) and self._cases[case].again

    def _replaced(self, places: dict[str, CallPlace]) -> list[FormerTest]:
        """The recordings of tests that are gone and asked the same: this one takes their place."""
        if self._recorded.plans or self._recorded.entries:
            return []
        found = {
            (each.path, each.test): each for key in places for each in self._find_former(key) if each.gone
        }
        return list(found.values())

    def _outdated(self, places: dict[str, CallPlace], replaced: Sequence[FormerTest]) -> list[str]:
        """The keys whose earlier lines may not stay though the answers be the same: they hold what is hidden now."""
        entries = [*self._recorded.entries, *(entry for each in replaced for entry in each.recorded.entries)]
        return [each.key for each in entries if each.key in places and not self._fits(each.answer)]

    def _holds(self, key: str) -> bool:
        """Whether an answer can be recorded: it was stored now, or was recorded before."""
        new = self._spool is not None and self._spool.get(key) is not None
        return new or (not self.anew and key in self._answers)

    def _beside(self) -> str:
        """What was asked beside the followed calls where a model is asked; empty for nothing.

        On this machine all may be reached, since a database may be there. A model's own address is no database.
        """
        models = {_address(call.url) for watch in self._watches() for call in watch.calls}
        for network in {id(watch.network): watch.network for watch in self._watches()}.values():
            for each in network.unfollowed():
                if each.kind not in {"connection", "request"} or _address(f"http://{each.to}") not in models:
                    continue
                host, _, port = each.to.rpartition(":")
                if not network.allowed.has([host], int(port)):
                    what = f"a {each.kind} to {each.to}{place(each.at, each.by)}"
                    return f"{what} is not followed, and a model is asked at that address"
        return ""

    def said(self) -> list[str]:
        """What the person must know of where this test's answers came from and went."""
        return [*self.notes, *filter(None, [self._sources()])]

    def _sources(self) -> str:
        """Where the answers of this test came from, if not all from its recording; nothing where they did."""
        watches = [watch for watch in self._watches() if not watch.settings.part.spare]
        keys = {key: watch_hit for watch in watches for key, watch_hit in _keys(watch)}
        if self.strict or not self.served or self.served >= keys.keys():
            return ""
        if self.recording:
            count = len(keys.keys() - self.served)
            return f"{len(self.served & keys.keys())} answers are from its recording of {self._age()}, {count} new"
        local = sum(hit and key not in self.served for key, hit in keys.items())
        asked = sum(not hit for hit in keys.values())
        parts = [f"{len(self.served & keys.keys())} from its recording of {self._age()}"]
        parts += [f"{local} from the local cache only (missing in CI)"] if local else []
        parts += [f"{asked} asked now"] if asked else []
        return f"the answers are of different times: {', '.join(parts)}; record the test again"

    def _age(self) -> str:
        return to_time(max(self._answers[key].created for key in self.served))[:10]

    def _watches(self) -> list[Watch]:
        return [watch for case in self._cases for watch in case.watches]

    def _plans(self) -> list[PlanEntry]:
        """The plan of each case; cases of one prompt share it."""
        plans: list[PlanEntry] = []
        for number, case in enumerate(self._cases):
            if case.plan is not None and case.plan["prompt"] not in [each.plan["prompt"] for each in plans]:
                plans.append(PlanEntry(self._spool.test if self._spool else "", number, case.plan))
        return plans

    def _places(self) -> dict[str, CallPlace]:
        """Where each answer of this run stands first."""
        places: dict[str, CallPlace] = {}
        for watch in self._watches():
            for number, (key, _) in enumerate(_keys(watch)):
                part = watch.settings.part
                if part.spare and not self._holds(key):
                    continue
                sample = (watch.settings.repeat or None) if part.trial else watch.settings.repeat
                places.setdefault(key, CallPlace(part.case, sample, part.trial, number))
        return places


def _changed_cases(before: Sequence[RecordedExchange], now: Mapping[str, CallPlace]) -> set[int]:
    """The cases whose unmutated request is new, and whose recorded one is asked nowhere: their input was changed.

    No other difference says that a recorded answer is not needed any more: a run that stops early, say, asks less.
    """
    known = {each.key for each in before}
    first = {place.case for key, place in now.items() if _is_first(place) and key not in known}
    gone = {each.place.case for each in before if _is_first(each.place) and each.key not in now}
    return first & gone


def _is_first(place: CallPlace) -> bool:
    return not (place.trial or place.sample or place.call)


def _address(url: str) -> tuple[str, int]:
    """Host and port of a URL, one name for all of this machine's; of the path of a socket only the path."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return url, 0
    host = parts.hostname or url
    return "localhost" if is_local(host) else host, port


def _keys(watch: Watch) -> list[tuple[str, bool]]:
    """The keys of what was answered, and whether it was stored; of what the provider refused as well."""
    answered = [(call.digest, call.nth, call.hit) for call in list(watch.calls)]
    refused = [(each.digest, each.nth, False) for each in watch.unrecovered() if not _leaves_gap(each.kind)]
    return [
        (exchange_key(digest, watch.settings.repeat, nth), hit) for digest, nth, hit in answered + refused
    ]


def _leaves_gap(kind: str) -> bool:
    """Whether a fault leaves a request without an answer that a replay could give."""
    return kind != "bad-request"
