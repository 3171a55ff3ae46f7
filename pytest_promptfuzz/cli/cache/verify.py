"""``promptfuzz cache verify``: checks that stored answers are unchanged; ``--live`` asks again, and compares."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.cli.cache.stats import add_paths, add_store, day, recordings_in
from pytest_promptfuzz.cli.options import add_limit_options, add_output_options, from_one, limits_of
from pytest_promptfuzz.errors import ConfigurationError, StoreError, TargetError, UsageError
from pytest_promptfuzz.evaluating.settings import LIMITS
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.bodies import parse_json
from pytest_promptfuzz.providers.formats import (
    has_text,
    host_of,
    output_bound,
    parse_answer,
    parse_stream,
    request_texts,
)
from pytest_promptfuzz.providers.requests import LASTING, status_kind
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line
from pytest_promptfuzz.storage.disk_store import kept_answers
from pytest_promptfuzz.storage.recordings.checks import check, secrets_of, why_not
from pytest_promptfuzz.storage.redaction import Redaction, credentials
from pytest_promptfuzz.storage.secrets import HIDDEN
from pytest_promptfuzz.targets.sdk_clients import credentials_for
from pytest_promptfuzz.wire.calls import Outgoing, describe_status, may_pass, status_of_kind
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping
    from email.message import Message
    from pathlib import Path

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.recordings.checks import Checked
    from pytest_promptfuzz.storage.recordings.entries import RecordedExchange
    from pytest_promptfuzz.wire.calls import CallGate


SECONDS = 60.0
"""How long an answer may take."""
_UNREADABLE = frozenset({"malformed", "not-text"})


@dataclass(frozen=True, slots=True)
class Reasked:
    """One recorded request that was asked again.

    Attributes:
        entry: What is recorded.
        outcome: ``equivalent``, ``minor``, ``deviation`` or ``undecided``; ``error`` where there is no answer.
        explanation: Why, in a sentence.
        model_before: The model as answered when it was recorded.
        model_now: The model as answered now.
    """

    entry: RecordedExchange
    outcome: Literal["equivalent", "minor", "deviation", "undecided", "error"]
    explanation: str
    model_before: str = ""
    model_now: str = ""


def askable(entries: Iterable[RecordedExchange]) -> list[RecordedExchange]:
    """Those that a provider can be asked again: not in-process, not embeddings, no refusal, nothing hidden in them."""
    return [
        each
        for each in entries
        if each.answer.url.startswith(("https://", "http://"))
        and has_text(each.answer.url)
        and each.answer.status < 400
        and HIDDEN not in json.dumps(each.answer.request)
    ]


def sampled(entries: Iterable[RecordedExchange], count: int, seed: int) -> list[RecordedExchange]:
    """At most ``count`` of the entries, each request once; the same for the same seed, whatever their order."""
    requests: dict[str, RecordedExchange] = {}
    for each in entries:
        requests.setdefault(each.key.partition("-")[0], each)
    ranked = sorted(requests, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).digest())
    return [requests[key] for key in ranked[:count]]


def reask(
    entry: RecordedExchange,
    *,
    gate: CallGate,
    allowed: frozenset[str] = frozenset(),
    embedder: Embedder | None = None,
) -> Reasked:
    """Ask once more, and compare with what is recorded.

    Args:
        entry: One of ``askable``.
        gate: What the call passes.
        allowed: Hosts that may be asked besides OpenAI's and Anthropic's.
        embedder: For the semantic tier.

    Raises:
        ConfigurationError: The host may not be asked, or its key is not set.
    """
    headers = credentials_for(entry.answer.url, allowed)
    try:
        before = _read(entry.answer.url, entry.answer.body.encode("utf-8"), streamed=entry.answer.streamed)
        now = _asked(entry.answer, headers, gate)
        found: Comparison = compare(before, now, semantic=embedder or False, entailment=False)
    except (TargetError, UsageError, ValueError) as error:
        said = Redaction(values=credentials(headers)).text(str(error))
        return Reasked(entry, "error", said)
    return Reasked(entry, found.outcome, found.explanation, before.model, now.model)


def _read(url: str, body: bytes, *, streamed: bool) -> Response:
    if not streamed:
        return parse_answer(url, parse_json(body))
    response = parse_stream(url, body)
    if response is None:
        raise TargetError("The stream ended before its end marker.", kind="connection")
    return response


def _asked(answer: StoredAnswer, credentials: dict[str, str], gate: CallGate) -> Response:
    """What is answered now; made again as long as the gate lets it."""
    body = json.dumps(answer.request).encode("utf-8")
    model = answer.request.get("model")
    passage = gate.enter(
        Outgoing(
            url=answer.url,
            host=host_of(answer.url),
            model=model if isinstance(model, str) else "",
            size=len(body),
            bound=output_bound(answer.request),
            words=sum(map(len, request_texts(answer.request, answer.url))),
        )
    )
    while True:
        while (delay := passage.delay()) > 0:
            time.sleep(delay)
        try:
            status, headers, content = _post(answer, body, credentials)
        except (OSError, http.client.HTTPException) as error:
            if passage.failed(passing=_may_pass(error)):
                continue
            raise TargetError(
                f"It could not be asked: {error}{passage.tries()}.", kind="connection"
            ) from None
        try:
            response = _response(answer, status, content)
        except TargetError as error:
            # As a status where the answer reports it; what cannot be read is no failure that passes.
            told = (
                status if status >= 400 else 200 if error.kind in _UNREADABLE else status_of_kind(error.kind)
            )
            if passage.answered(told, headers, lasting=error.kind in LASTING):
                continue
            passage.left()
            raise TargetError(f"{error}{passage.tries()}", kind=error.kind, status=error.status) from None
        passage.answered(status, headers)
        passage.settled(response.usage, len(response.text))
        return response


def _response(answer: StoredAnswer, status: int, content: bytes) -> Response:
    if status >= 400:
        kind = status_kind(status, content.decode("utf-8", "replace"))
        raise TargetError(describe_status(status, content), kind=kind, status=status)
    try:
        return _read(answer.url, content, streamed=answer.streamed)
    except ValueError as error:
        raise TargetError(f"The answer is not JSON ({error}).", kind="malformed") from None


def _may_pass(error: Exception) -> bool:
    reason = getattr(error, "reason", error)  # of urllib's own exception
    return isinstance(error, http.client.HTTPException) or may_pass(
        reason if isinstance(reason, BaseException) else error
    )


def _post(
    answer: StoredAnswer, body: bytes, credentials: dict[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """A credential is not carried to where an answer points."""

        def redirect_request(self, *_: Any) -> None:
            return None

    request = urllib.request.Request(  # noqa: S310 - http and https only, see askable
        answer.url,
        body,
        {**answer.headers, **credentials, "content-type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=SECONDS) as response:
            return response.status, _lower(response.headers), response.read()
    except urllib.error.HTTPError as error:
        return error.code, _lower(error.headers), error.read()


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


# ``promptfuzz cache verify``: stored answers are unchanged and hold no credentials; ``--live`` asks again.


# ``promptfuzz cache verify --live``: which recorded requests are asked again, and what is said of the answers.


SAMPLE = 10
_STYLES: dict[str, Any] = {"deviation": "bad", "error": "warn", "undecided": "warn"}


def ask_again(recordings: list[Checked], options: argparse.Namespace) -> list[Reasked]:
    """Ask a sample of what is recorded, one request after the other.

    Raises:
        ConfigurationError: Nothing recorded can be asked again, a host may not be asked, or its key is not set. Nothing
            was asked then.
    """
    from pytest_promptfuzz.evaluating.session import installed_embedder
    from pytest_promptfuzz.targets.sdk_clients import credentials_for

    entries = [entry for checked in recordings for entry in checked.entries]
    chosen = sampled(askable(entries), options.sample or SAMPLE, options.seed or 0)
    if not chosen:
        raise ConfigurationError(
            f"--live: none of the {counted(len(entries), 'recorded answer')} can be asked again. They are simulated, "
            "embeddings or refusals, or a secret in them was hidden."
        )
    allowed = frozenset(each.lower() for each in options.host or ())
    for each in chosen:
        credentials_for(each.answer.url, allowed)
    embedder, limits = installed_embedder(), limits_of(options)
    return [reask(each, gate=limits, allowed=allowed, embedder=embedder) for each in chosen]


def code_of(asked: list[Reasked]) -> int:
    """1 where an answer deviates, 3 where that cannot be told of one, else 0."""
    outcomes = {each.outcome for each in asked}
    return 1 if "deviation" in outcomes else 3 if outcomes & {"undecided", "error"} else 0


def asked_lines(asked: list[Reasked], *, refused: bool) -> list[Line]:
    """What is shown: a line for each request, and the sum."""
    if refused:
        return [[("Nothing was asked again, because the recordings have problems.", "bad")]]
    lines: list[Line] = []
    for each in asked:
        place = each.entry.place
        run = f"trial {place.trial}" if place.trial else "baseline"
        model = each.model_now
        if each.model_before != each.model_now:
            model = f"{each.model_now} (was {each.model_before})"
        said = f"{each.outcome}: {each.explanation}; recorded {day(each.entry.answer.created)}" + (
            f", model {model}" if model else ""
        )
        lines.append(
            [
                (f"  {each.entry.test}, {run}: ", "plain"),
                HANG,
                (said, _STYLES.get(each.outcome, "plain")),
            ]
        )
    counts = [
        f"{sum(each.outcome == outcome for each in asked)} {outcome}"
        for outcome in ("equivalent", "minor", "deviation", "undecided", "error")
        if any(each.outcome == outcome for each in asked)
    ]
    changed = sum(each.outcome != "error" and each.model_before != each.model_now for each in asked)
    other = f"; {counted(changed, 'answer')} by another model than recorded" if changed else ""
    head = f"Asked {counted(len(asked), 'request')} again: {', '.join(counts)}{other}."
    return [*lines, [(head, "bad" if code_of(asked) else "good")]]


def as_json(asked: Reasked) -> dict[str, Any]:
    """One of them as JSON."""
    place = asked.entry.place
    return {
        "test": asked.entry.test,
        "trial": place.trial,
        "sample": place.sample,
        "outcome": asked.outcome,
        "explanation": asked.explanation,
        "recorded": asked.entry.answer.created,
        "model_before": asked.model_before,
        "model_now": asked.model_now,
    }


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "verify",
        help="check that no stored answer was edited or holds a credential",
        description=(
            "promptfuzz cache verify: check that no stored answer was edited or holds a credential."
        ),
        epilog="exit codes: 0: no problem, 1: a problem, or with --live an answer changed, 2: wrong usage or "
        "environment, 3: with --live, an answer could not be compared",
        allow_abbrev=False,
    )
    add_paths(parser)
    group = parser.add_argument_group("asking the provider again")
    group.add_argument(
        "--live", action="store_true", help="ask some of the recorded requests again, and compare the answers"
    )
    group.add_argument(
        "--sample", type=from_one, metavar="N", help=f"how many requests to ask again ({SAMPLE})"
    )
    group.add_argument("--seed", type=int, metavar="N", help="number that chooses the requests (0)")
    group.add_argument(
        "--host",
        action="append",
        metavar="HOST",
        help="host that may be asked, with the key in PROMPTFUZZ_API_KEY if it is set",
    )
    add_limit_options(parser)
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Check the recordings, and without paths the local cache too; returns the exit code.

    Raises:
        PromptfuzzError: A path is wrong, or a provider may not be asked.
    """
    given = [name for name in ("sample", "seed", "host") if getattr(options, name) is not None]
    given += [each.name for each in LIMITS.values() if getattr(options, each.name) != each.default]
    if given and not options.live:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option} is for asking the provider again. Add --live.")
    problems: list[str] = []
    notes: list[str] = []
    answers = 0
    recordings = [check(path) for path in recordings_in(options.paths)]
    for checked in recordings:
        problems += [str(each) for each in checked.problems]
        notes += checked.notes
        answers += len(checked.entries)
    stored = 0
    if not options.paths:
        stored, wrong = _check_cache(options.cache_dir)
        problems += wrong
    # What was edited is not sent to anybody.
    asked = ask_again(recordings, options) if options.live and not problems else []
    if options.json:
        output.json(
            {
                "recordings": [str(each.path) for each in recordings],
                "recorded": answers,
                "stored": stored,
                "problems": problems,
                "notes": notes,
                **({"asked": [as_json(each) for each in asked]} if options.live else {}),
            }
        )
    else:
        output.lines([(each, "plain")] for each in [*problems, *(f"note: {each}" for each in notes)])
        what = f"{counted(len(recordings), 'recording')} with {counted(answers, 'answer')}"
        local = "" if options.paths else f", {stored:,} in the local cache"
        found = counted(len(problems), "problem") if problems else "no problem"
        output.lines([[(f"Checked {what}{local}: {found}.", "bad" if problems else "good")]])
        if options.live:
            output.lines(asked_lines(asked, refused=bool(problems)))
    return 1 if problems else code_of(asked)


def _check_cache(directory: Path) -> tuple[int, list[str]]:
    count = 0
    problems: list[str] = []
    try:
        for entry in kept_answers(directory):
            count += 1
            where = f"{directory}, entry {entry.key[:16]}: "
            if entry.answer is None:
                problems.append(f"{where}{entry.why}. The model will be asked again.")
                continue
            if why := why_not(entry.key, entry.answer):
                problems.append(
                    f"{where}{why}. Remove it with `promptfuzz cache prune --cache --damaged --yes`."
                )
            problems += [f"{where}{each.path} holds {each.kind}." for each in secrets_of(entry.answer)]
    except StoreError as error:
        problems.append(str(error))
    return count, problems
