"""Submitting what is wanted, waiting for it, and storing what comes: nothing is submitted twice."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_promptfuzz.running.batches.providers import all_providers
from pytest_promptfuzz.running.batches.state import Submitted, Underway, alone
from pytest_promptfuzz.running.batches.wanted import Wanted, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_promptfuzz.running.batches.providers import Provider, Result
    from pytest_promptfuzz.wire.answers import AnswerStore
    from pytest_promptfuzz.wire.redact import Redaction

_MOST_REASONS = 3


@dataclass(slots=True)
class Outcome:
    """What a prefill did.

    Attributes:
        submitted: Requests handed in.
        stored: Answers stored.
        live: Requests that no batch takes, by where they go, their test, and why.
        failed: Why a request has no answer, by test; each will be asked when its test runs.
        waiting: Requests still under way.
    """

    submitted: int = 0
    stored: int = 0
    live: dict[tuple[str, str, str], int] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    waiting: int = 0


class Prefill:
    """One prefill.

    Args:
        wanted: The calls that the suite will make and the store does not answer.
        folder: The project's ``.promptfuzz``.
        store: Where answers go.
        redaction: What is hidden in what is stored and said.
        say: Tells what happens, a sentence at a time.
    """

    def __init__(
        self,
        wanted: Sequence[Wanted],
        folder: Path,
        store: AnswerStore,
        redaction: Redaction,
        say: Callable[[str], None],
    ) -> None:
        self._wanted = {name_of(each.key(redaction)): each for each in wanted}
        self._folder = folder
        self._store = store
        self._redaction = redaction
        self._say = say
        self._providers = {each.name: each for each in all_providers()}
        self.outcome = Outcome()

    def run(self, *, submit: bool, wait: bool, cancel: bool, poll: float) -> Outcome:
        """Go on with what is under way, submit the rest, and store what has come.

        Args:
            submit: Whether anything new is submitted.
            wait: Whether to wait until every batch has ended.
            cancel: Whether to give up what is under way, and store what was answered by then.
            poll: Seconds between two looks at the batches.

        Raises:
            StoreError: Another prefill is at work, the file of batches cannot be read, or the store takes no answer;
                the batches of which it did not take all stay known.
            ConfigurationError: A key or an SDK is missing.
            TargetError: The provider cannot be reached; what is under way stays known.
        """
        with alone(self._folder):
            underway = Underway(self._folder)
            self._recover(underway)
            if cancel:
                for batch in underway.batches:
                    if not self._providers[batch.provider].ended(batch.id):
                        self._providers[batch.provider].cancel(batch.id)
            elif submit:
                self._submit(underway)
            self._collect(underway)
            while wait and underway.batches:
                time.sleep(poll)
                self._collect(underway)
            self.outcome.waiting = sum(len(each.names) for each in underway.batches)
        return self.outcome

    def _recover(self, underway: Underway) -> None:
        """Find the batches whose submission was cut short, or forget them."""
        for batch in [each for each in underway.batches if not each.id]:
            known = [each.id for each in underway.batches]
            batch.id = self._providers[batch.provider].find(batch, known)
            if not batch.id:
                underway.batches.remove(batch)
        if underway.path.exists():
            underway.save()

    def _submit(self, underway: Underway) -> None:
        asked = {name for batch in underway.batches for name in batch.names}
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for name, wanted in self._wanted.items():
            place = self._place(wanted)
            if place is None:
                why = "a stream" if wanted.wire.body.get("stream") else "no batch takes what is asked there"
                left = (self._redaction.url(wanted.wire.url), wanted.test, why)
                self.outcome.live[left] = self.outcome.live.get(left, 0) + 1
            elif name not in asked:
                groups.setdefault(place, []).append(name)
        for (provider_name, group), names in groups.items():
            provider = self._providers[provider_name]
            for part in self._parts(provider, group, names):
                self._submit_one(underway, provider, group, part)

    def _parts(self, provider: Provider, group: tuple[str, ...], names: list[str]) -> Iterator[list[str]]:
        """The requests of a group in batches that the provider takes."""
        part: list[str] = []
        room = provider.most_bytes
        for name in names:
            size = provider.size(group, name, self._wanted[name].wire)
            if size > provider.most_bytes:
                self._failed(name, f"{size:,} bytes are more than a batch takes; it is asked live")
                continue
            if size > room or len(part) == provider.most:
                yield part
                part, room = [], provider.most_bytes
            part.append(name)
            room -= size
        if part:
            yield part

    def _place(self, wanted: Wanted) -> tuple[str, tuple[str, ...]] | None:
        for provider in self._providers.values():
            group = provider.group(wanted.wire)
            if group is not None:
                return provider.name, group
        return None

    def _submit_one(
        self, underway: Underway, provider: Provider, group: tuple[str, ...], names: list[str]
    ) -> None:
        batch = Submitted(provider.name, uuid.uuid4().hex, names, before=provider.latest())
        underway.batches.append(batch)
        underway.save()  # before it is submitted: a process that is killed meanwhile leaves a trace of it
        batch.id = provider.submit(group, {name: self._wanted[name].wire for name in names}, batch.token)
        underway.save()
        self.outcome.submitted += len(names)
        self._say(f"{len(names)} requests submitted to {provider.name} as {batch.id}")

    def _collect(self, underway: Underway) -> None:
        for batch in list(underway.batches):
            provider = self._providers[batch.provider]
            if not provider.ended(batch.id):
                continue
            missing = dict.fromkeys(batch.names)
            whole: list[str] = []
            for result in provider.results(batch.id):
                if not result.name:
                    whole.append(result.why)
                    continue
                missing.pop(result.name, None)
                self._take(result)
            why = "; ".join(whole[:_MOST_REASONS]) or "the batch ended without an answer"
            for name in missing:
                self._failed(name, why)
            underway.batches.remove(batch)
            underway.save()

    def _take(self, result: Result) -> None:
        wanted = self._wanted.get(result.name)
        if result.body is None:
            self._failed(result.name, result.why)
        elif wanted is not None:
            why = wanted.keep(result.body, self._store, self._redaction)
            if why:
                self._failed(result.name, why)
            else:
                self.outcome.stored += 1

    def _failed(self, name: str, why: str) -> None:
        wanted = self._wanted.get(name)
        test = wanted.test if wanted is not None else "no test asks for it any more"
        self.outcome.failed.append((test, self._redaction.text(why)))
