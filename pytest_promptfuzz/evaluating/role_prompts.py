"""``mutate="role:system"``: finds the text in the baseline's requests; errors where no model call was seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, NotRecordedError, UsageError, continued, not_among
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.stats.verdict import Judgement
from pytest_promptfuzz.wire.calls import NOT_RECORDED
from pytest_promptfuzz.wire.network import OWN_SOCKETS, loaded
from pytest_promptfuzz.wire.network_guard import FOLLOWED
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.wire.cassettes import Tape
    from pytest_promptfuzz.wire.in_flight import ApplicationRequest, InFlight
    from pytest_promptfuzz.wire.network import Unseen


# Baselines that ask a model where the wire is not seen: errors that offer the way out.


_MOST = 4

_settings_file = ""


def written_in(file: str) -> str:
    """From now on, show lines to be pasted as this file of settings has them.

    Returns:
        The file before.
    """
    global _settings_file  # as the endpoints themselves, wire.custom
    before, _settings_file = _settings_file, file
    return before


def refuse_unseen(run: Run, where: str) -> None:
    """Refuse a baseline that asked a model through a library, or in a protocol, that is not seen.

    Raises:
        ConfigurationError: It did; the library and the address are named.
    """
    found = [each for each in run.watch.unseen if each.asks_model]
    asking = list(dict.fromkeys(map(str, found)))
    if asking:
        not_json = found[0].by in FOLLOWED
        way_out = _followed_by(found) or Note.of("calls:not-json" if not_json else "calls:through-a-proxy")
        if found[0].is_websocket:
            way_out = Note.of("calls:by-websocket")
        raise ConfigurationError(
            f"{where}: a model was asked through {', '.join(asking[:_MOST])}. That is not seen: its answers cannot be "
            f"stored, limited or mutated on the wire. {sentence(way_out)}"
        )


def refuse_unreplayable(tape: Tape | None, run: Run, unrecorded: NotRecordedError | None, where: str) -> None:
    """Refuse to replay a baseline that was kept from a connection, where that is why it cannot be replayed.

    Args:
        tape: The test's recording.
        run: The baseline's.
        unrecorded: Why there is no plan, where there is none.
        where: The test, for messages.

    Raises:
        NotRecordedError: It was refused; the message has what was, and the mend.
        ConfigurationError: As ``refuse_unseen``.
    """
    if tape is None or not tape.strict:
        return
    refuse_unseen(run, where)
    missing = unrecorded is not None or any(fault.kind == NOT_RECORDED for fault in run.watch.faults)
    if run.watch.refused and (missing or run.exception is not None):
        raise NotRecordedError(f"{where}: the test cannot be replayed: {continued(run.watch.refused[0])}")


def _followed_by(found: list[Unseen]) -> Note | None:
    """The lines of settings that make requests followed; ``None`` where none do."""
    lines = list(dict.fromkeys(each.endpoint for each in found if each.endpoint))
    return Note.of("calls:by-endpoints", lines=lines, file=_settings_file) if lines else None


def perhaps_unseen(run: Run) -> list[Note]:
    """What to say of a baseline in which no model call was seen, but something that may have been one.

    It is not refused: the target may be a function, or the model be replaced by a stub.
    """
    unknown = run.watch.unseen and not run.watch.calls and not run.watch.faults
    return [nothing_seen(run)] if unknown else []


def nothing_seen(run: Run) -> Note:
    """What to say of a run in which no model call was seen at all."""
    begun = list(dict.fromkeys(map(str, run.watch.unseen)))
    not_json = begun and all(each.by in FOLLOWED for each in run.watch.unseen)
    other = Note.of("calls:not-json" if not_json else "calls:through-a-proxy")
    mend = _followed_by(run.watch.unseen) or other
    return Note.of("calls:nothing-seen", begun=begun, hidden=loaded(OWN_SOCKETS), mend=mend)


PREFIX = "role:"
_ROLES = {"system": "system", "developer": "system", "user": "user"}
_SHOWN_CHARACTERS = 60


def unknown_role(mutate: str) -> str:
    """What to say of ``mutate="role:…"`` whose role is none that is mutated; empty for one that is."""
    role = mutate.removeprefix(PREFIX)
    return (
        "" if role in _ROLES else not_among(f"mutate={mutate!r}", mutate, [PREFIX + each for each in _ROLES])
    )


class OnWire(NamedTuple):
    """What is mutated in flight.

    Attributes:
        name: As written, ``role:system``.
        role: ``system`` (developer texts are the same) or ``user``.
        call: The index, among the calls of the baseline, of the one whose text is meant; ``None`` is any.
        match: What the text meant must hold.
    """

    name: str
    role: str
    call: int | None = None
    match: re.Pattern[str] | None = None

    @classmethod
    def of(cls, mutate: Any, call: Any, match: Any, where: str) -> OnWire | None:
        """What the keys ``mutate``, ``call`` and ``match`` of a mark say; ``None`` where no role is named.

        Raises:
            UsageError: An unknown role, a pin that is none, or one without a role.
        """
        if not isinstance(mutate, str) or not mutate.startswith(PREFIX):
            for name, value in (("call", call), ("match", match)):
                if value is not None:
                    raise UsageError(
                        f"{where}: {name}={value!r} says which request is meant, and mutate={mutate!r} names no role: "
                        f"it belongs to mutate='role:system' or 'role:user'."
                    )
            return None
        role = mutate.removeprefix(PREFIX)
        if role not in _ROLES:
            raise UsageError(f"{where}: {unknown_role(mutate)}")
        if call is not None and (isinstance(call, bool) or not isinstance(call, int) or call < 0):
            raise UsageError(f"{where}: call={call!r} is not the index of a call of the baseline, 0 or more.")
        return cls(mutate, _ROLES[role], call, _pattern(match, where))

    def in_flight(self, mutation: Mutation | None) -> InFlight:
        """What puts a mutation in the place of its original; without one it looks on only."""
        from pytest_promptfuzz.wire.in_flight import InFlight

        if mutation is None:
            return InFlight(self.role)
        pairs = zip(_texts(_original(mutation)), _texts(mutation.prompt), strict=True)
        return InFlight(self.role, {old: new for old, new in pairs if old != new})

    def prompt(self, baseline: Run, where: str) -> Prompt:
        """The text that the baseline's requests show; a chat prompt where one message holds several.

        Raises:
            UsageError: There is none, or more than one could be meant; what was seen is listed.
            ConfigurationError: No model call was seen, one could not be read, or it is signed.
        """
        asked = _asked(baseline)
        flown = baseline.watch.route.in_flight
        unreadable = flown.unreadable if flown is not None else []
        if unreadable:
            raise ConfigurationError(
                f"{where}: mutate={self.name!r} mutates what the application asks. {unreadable[0]} Let the application "
                "send plain JSON, or name what is mutated by an argument or a dotted path."
            )
        if not asked:
            raise ConfigurationError(
                f"{where}: mutate={self.name!r} mutates what the application asks. {sentence(nothing_seen(baseline))}"
            )
        if self.call is not None and self.call >= len(asked):
            raise UsageError(
                f"{where}: call={self.call}, and the baseline's calls are numbered from 0 to {len(asked) - 1}."
                f"{_listed(baseline)}"
            )
        if self.call is not None and not all(each.on_line for each in asked):
            raise UsageError(
                f"{where}: call={self.call} counts calls in order, and this test makes calls in other threads or "
                f"tasks, whose order may change. Say which text is meant with match='a regular expression'."
                f"{_listed(baseline)}"
            )
        messages = [each for call in self._meant(asked) for each in call.messages if each.role == self.role]
        meant = dict.fromkeys(text for each in messages for text in each.texts if self._matches(text))
        if not meant and (hidden := self._left_out(asked)):
            raise UsageError(
                f"{where}: mutate={self.name!r}: ignore= leaves out the {self.role} text that is meant, at "
                f"{', '.join(hidden)}: what does not count in a request is not mutated. Name narrower paths in "
                f"ignore={list(baseline.watch.settings.ignore)!r}.{_listed(baseline)}"
            )
        if not meant:
            pinned = f" that {self._pins}" if self._pins else ""
            raise UsageError(
                f"{where}: mutate={self.name!r}: no request of the baseline holds a {self.role} text{pinned}."
                f"{_listed(baseline)}"
            )
        if not any(meant.keys() <= set(each.texts) for each in messages):
            raise UsageError(
                f"{where}: mutate={self.name!r}: the baseline's requests hold {len(meant)} different {self.role} "
                f"texts. Say which is meant with call=0 (the call's index) or match='a regular expression'."
                f"{_listed(baseline)}"
            )
        signed = [flown.signed[text] for text in meant if flown is not None and text in flown.signed]
        if signed:
            raise ConfigurationError(f"{where}: mutate={self.name!r}: {signed[0]}")
        texts = list(meant)
        try:
            if len(texts) == 1:
                return Prompt(texts[0], name=self.name)
            parts = [{"type": "text", "text": text} for text in texts]
            return Prompt.from_messages([{"role": self.role, "content": parts}], name=self.name)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None

    def unrepeated(self, planned: Sequence[Mutation], baseline: Run, control: Run) -> Judgement | None:
        """Why trials would be in vain: the unmutated test, run again, does not ask with these texts."""
        again = {text for call in _asked(control) for each in call.messages for text in each.texts}
        meant = _texts(_original(planned[0])) if planned else []
        gone = [text for text in meant if text not in again]
        if not gone:
            return None
        paths = [
            path
            for call in _asked(baseline)
            for each in call.messages
            for text, path in zip(each.texts, each.paths, strict=True)
            if text in gone
        ]
        asked = "evaluations:asked-with-another-text" if _asked(control) else "evaluations:asked-no-model"
        note = Note.of(asked, paths=[*dict.fromkeys(paths)])
        return Judgement.noted("inconclusive", "not-exercised", note)

    def _meant(self, asked: Sequence[ApplicationRequest]) -> Sequence[ApplicationRequest]:
        """The calls whose texts may be meant."""
        return asked if self.call is None else asked[self.call : self.call + 1]

    def _left_out(self, asked: Sequence[ApplicationRequest]) -> list[str]:
        """The JSON paths of texts that would be meant if ``ignore=`` did not leave them out."""
        said = [each for call in self._meant(asked) for each in call.left_out if each.role == self.role]
        return list(
            dict.fromkeys(
                path
                for each in said
                for text, path in zip(each.texts, each.paths, strict=True)
                if self._matches(text)
            )
        )

    @property
    def _pins(self) -> str:
        pins = [] if self.call is None else [f"is of call {self.call}"]
        if self.match is not None:
            pins.append(f"matches {self.match.pattern!r}")
        return " and ".join(pins)

    def _matches(self, text: str) -> bool:
        return self.match is None or self.match.search(text) is not None


def not_found(run: Run) -> Note:
    """Why a run did not exercise the mutation that was to be put into its requests."""
    return Note.of("calls:text-not-found", seen=_seen(run))


def _asked(run: Run) -> Sequence[ApplicationRequest]:
    return run.watch.route.in_flight.asked if run.watch.route.in_flight is not None else ()


def _pattern(match: Any, where: str) -> re.Pattern[str] | None:
    if match is None or isinstance(match, re.Pattern):
        return match
    try:
        return re.compile(match)
    except (TypeError, re.error) as error:
        raise UsageError(f"{where}: match={match!r} is no regular expression: {error}.") from None


def _original(mutation: Mutation) -> Prompt:
    return mutation.source if mutation.source is not None else Prompt(mutation.original)


def _texts(prompt: Prompt) -> list[str]:
    if not prompt.is_chat:
        return [prompt.text]
    return [part["text"] for message in prompt.messages for part in message["content"]]


def _listed(run: Run) -> str:
    """What a run's requests said, a line each, for messages."""
    return sentence(Note.of("calls:listed", seen=_seen(run)))


def _seen(run: Run) -> list[tuple[str, list[str]]]:
    """The model of each of a run's requests, and what it said."""
    redacted = run.watch.settings.redaction.text
    return [
        (
            call.model,
            [f"{each.role} {_short(redacted(text))!r}" for each in call.messages for text in each.texts],
        )
        for call in _asked(run)
    ]


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN_CHARACTERS else flat[: _SHOWN_CHARACTERS - 1] + "…"
