"""`evaluate` and `aevaluate`: the robustness of a prompt on a target, without pytest; the inputs of a prompt."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import UsageError, continued, quoted
from pytest_promptfuzz.evaluating.contract import BodyTraits, Contract, EvaluationSettings
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.evaluating.phases.gold import read_expected
from pytest_promptfuzz.evaluating.phases.verdict import Before, outcomes_before
from pytest_promptfuzz.evaluating.role_prompts import PREFIX, OnWire
from pytest_promptfuzz.evaluating.session import (
    Session,
    installed_embedder,
    installed_entailment,
    simulated_of,
)
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.results.trials import Spent
from pytest_promptfuzz.running.run import adrive, drive, nothing, together
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request, connected, resolve
from pytest_promptfuzz.wire.target_calls import aask, ask
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import current

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_promptfuzz.evaluating.cases import Steps
    from pytest_promptfuzz.evaluating.datasets import Dataset
    from pytest_promptfuzz.mutations.engine.selection import Mutations
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.running.speculation import Speculation
    from pytest_promptfuzz.wire.watch import Watch

    AnyTarget = str | Target | Callable[..., Any]
    AnyPrompt = str | Prompt | os.PathLike[str] | Sequence[Mapping[str, Any]]


# The body of an evaluation whose calls are made for it: a prompt is asked of a target, seen by the run's watch.


@dataclass(frozen=True, slots=True)
class TargetAsker:
    """Asks a target.

    Attributes:
        target: A model, or a function of the application.
        parameters: More for the request body; none for a function.
    """

    target: Target | CallableTarget
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def request(self, prompt: Prompt) -> Request:
        """What is asked of a model for a prompt."""
        messages = prompt.messages
        if prompt.is_chat:
            return as_request(messages, **self.parameters)
        return Request(messages, dict(self.parameters))  # a Prompt is no malformed message: nothing to check

    def ask(self, prompt: Prompt) -> Any:
        """A model's ``Response``, or what the function returned; inside ``running.run`` only.

        Raises:
            TargetError: The call failed, or the function's answer is no text.
            UsageError: The request cannot be sent, or the function is asynchronous.
            Exception: Whatever the function raises.
        """
        if isinstance(self.target, CallableTarget):
            return self.target.call(prompt)
        watch = watch_of_the_run()
        return ask(self.target, self.request(prompt), watch)

    async def aask(self, prompt: Prompt) -> Any:
        """As ``ask``, without blocking the event loop; the function may be asynchronous."""
        if isinstance(self.target, CallableTarget):
            return await self.target.acall(prompt)
        watch = watch_of_the_run()
        return await aask(self.target, self.request(prompt), watch)


def watch_of_the_run() -> Watch:
    """The watch of the run that goes on."""
    watch = current.get()
    if watch is None:  # `running.run` sets it around every body
        raise RuntimeError("no run is going on")
    return watch


# Whether the calls of an evaluation's sync body may be made before it asks, and what that took.


class RunListener(NamedTuple):
    """What ``running.run.drive`` tells of an evaluation: of each batch before it is made, and of each run after it."""

    begin: Callable[[list[Step]], None] = nothing
    ran: Callable[[Step, Run, list[Step]], None] = nothing


@contextmanager
def speculating(evaluation: Evaluation) -> Iterator[RunListener]:
    """Have the calls of a sync body made early for the length of an evaluation, where that is wanted and can help.

    One trial alone, a replay and the simulated model have nothing to gain; an evaluation that was mistaken once stops.
    """
    settings, session, ledger = evaluation.settings, evaluation.session, evaluation.ledger
    useful = session.mode != "replay" and settings.simulated is None and settings.only is None
    if not (useful and session.speculate and session.concurrency > 1 and not evaluation.mistaken):
        yield RunListener()
        return
    speculations: dict[int, Speculation] = {}
    try:
        yield _told(evaluation, speculations)
    finally:
        for speculation in speculations.values():
            speculation.close()
            evaluation.mistaken = evaluation.mistaken or speculation.wrong
            for watch in speculation.unused:
                ledger.spent += spent_on(watch)
            ledger.spent += Spent(speculated=speculation.made, unused=len(speculation.unused))


def _told(evaluation: Evaluation, speculations: dict[int, Speculation]) -> RunListener:
    """Each case is told of its own runs: what follows from its prompt is learned from them."""
    from pytest_promptfuzz.running.speculation import Speculation

    session = evaluation.session
    apart = partial(session.apart, evaluation.network)

    def of(case: int) -> Speculation | None:
        if case not in speculations and not any(each.wrong for each in speculations.values()):
            # One call at a time may be the body's own.
            speculations[case] = Speculation(session.crew, session.concurrency - 1, apart)
        return speculations.get(case)

    def begin(batch: list[Step]) -> None:
        for case in dict.fromkeys(step.case for step in batch):
            speculation = of(case)
            if speculation is not None:
                speculation.begin([step for step in batch if step.case == case])

    def ran(step: Step, run: Run, rest: list[Step]) -> None:
        speculation = speculations.get(step.case)
        if speculation is not None:
            speculation.ran(step, run, [each for each in rest if each.case == step.case])

    return RunListener(begin, ran)


# The inputs of a declarative evaluation: what is put into a prompt's slots, one case after the other.


_SHOWN = 40


_INPUT = "input {}: "


def without_input(error: UsageError, name: str) -> str:
    """What ``Input.put_into`` says, where the input is named in another way."""
    return str(error).removeprefix(_INPUT.format(name))


class Input(NamedTuple):
    """One input.

    Attributes:
        name: How messages and reports call it; empty where the prompt needs no input.
        value: As it was given.
        values: What it puts into each slot; ``None`` for a prompt that is sent as it is.
        expected: The gold answer, as plain data; ``None`` where there is none.
        id: As the data has it; empty where it has none.
    """

    name: str = ""
    value: Any = None
    values: Mapping[str, object] | None = None
    expected: Any = None
    id: str = ""

    @property
    def cell_name(self) -> str:
        """How the cells of a study call it."""
        return self.id or self.name

    def put_into(self, prompt: Prompt) -> Prompt:
        """The prompt as it is sent.

        Raises:
            UsageError: A mutation lost a slot, or a slot cannot show its value.
        """
        if self.values is None:
            return prompt
        try:
            return prompt.fill(**self.values)
        except UsageError as error:
            raise UsageError(f"{_INPUT.format(self.name)}{continued(error)}") from None


class Cases(NamedTuple):
    """A prompt and its inputs.

    Attributes:
        prompt: The template.
        inputs: What is put into it, one case each.
        same_mutations: Whether the template is mutated, in the same way for every input; otherwise each input is
            mutated itself.
    """

    prompt: Prompt
    inputs: tuple[Input, ...]
    same_mutations: bool = True

    def prompt_of(self, given: Input) -> Prompt:
        """What is mutated in the case of an input."""
        return self.prompt if self.same_mutations else given.put_into(self.prompt)

    def sent(self, prompt: Prompt, given: Input) -> Prompt:
        """What is sent for a prompt of that case, mutated or not."""
        return given.put_into(prompt) if self.same_mutations else prompt


def read_inputs(
    inputs: Any, prompt: Prompt, where: str, expected: Any = None, folder: Path | None = None
) -> tuple[Input, ...]:
    """The inputs of a prompt.

    Args:
        inputs: A list of texts (a prompt of one slot), a list of mappings of slot to value, a mapping of ID to
            either, the path of a data file, or ``None`` for a prompt without slots; or inputs that were read before.
        prompt: The template.
        where: The test, for messages.
        expected: The gold answer, or that of each input: see
        :func:`~pytest_promptfuzz.evaluating.phases.gold.read_expected`.
        folder: Where a relative path starts; the current directory by default.

    Raises:
        UsageError: They are of another kind, empty, or do not fit the prompt's slots.
    """
    if inputs is None:
        if prompt.slots:
            slots = " and ".join(map(repr, prompt.slots))
            raise UsageError(
                f"{where}: the prompt has the slot {slots}, and nothing is put in. Write inputs=[…], one for each case."
            )
        return (Input(expected=read_expected(expected, None, where)[0]),)
    if isinstance(inputs, tuple) and inputs and all(isinstance(each, Input) for each in inputs):
        return inputs
    if isinstance(inputs, str | os.PathLike):
        return _of_file(inputs, prompt, where, expected, folder)
    named = _named(inputs, prompt, where)
    if not named:
        raise UsageError(
            f"{where}: inputs= is empty, so that nothing would be asked. Give at least one input."
        )
    _refuse_no_slot(prompt, f"{where}: inputs=")
    gold = read_expected(expected, inputs, where)
    return tuple(
        _input(name, value, prompt, where)._replace(expected=answer)
        for (name, value), answer in zip(named, gold, strict=True)
    )


def _of_file(
    given: str | os.PathLike[str], prompt: Prompt, where: str, expected: Any, folder: Path | None
) -> tuple[Input, ...]:
    from pytest_promptfuzz.evaluating.datasets import Dataset, looks_like_text

    if isinstance(given, str) and looks_like_text(given):
        raise UsageError(f"{where}: inputs= is one text; write a list, inputs=[{given!r:.40}].")
    label = f"{where}: inputs={quoted(os.fspath(given), 300)}"
    return dataset_inputs(Dataset.find(given, label, folder), prompt, expected)


def dataset_inputs(
    data: Dataset, prompt: Prompt, expected: Any = None, common: Mapping[str, object] | None = None
) -> tuple[Input, ...]:
    """The inputs in a data file.

    Args:
        data: The file.
        prompt: The template.
        expected: As ``read_inputs`` takes it, or the column of the gold answers, ``"column:NAME"``.
        common: Values of slots for all inputs; a row's own value comes first.

    Raises:
        UsageError: The file cannot be read, or does not fit the prompt's slots.
    """
    from pytest_promptfuzz.evaluating.datasets import gold_column

    _refuse_no_slot(prompt, data.label)
    rows = [*data.filled(prompt.slots, expected, common)]
    if expected is None or gold_column(expected) is not None:
        expected = [each.expected for each in rows]
    by_id = None not in {each.row.id for each in rows[:1]}
    gold = read_expected(expected, {each.row.id: each for each in rows} if by_id else rows, data.label)
    found = []
    for (row, values, _), answer in zip(rows, gold, strict=True):
        shown = row.value if isinstance(row.value, str) else values
        name = f"{row.number} {_short(shown)}" if row.id is None else repr(row.id)
        found.append(Input(name, row.value, values, answer, row.id or ""))
        try:
            found[-1].put_into(prompt)
        except UsageError as error:
            raise UsageError(f"{data.label}: {row.place}: {without_input(error, name)}") from None
    return tuple(found)


def _refuse_no_slot(prompt: Prompt, what: str) -> None:
    if not prompt.slots:
        raise UsageError(
            f"{what} is given, and the prompt has no slot to put them in. Write one, such as {{text}}."
        )


def _named(inputs: Any, prompt: Prompt, where: str) -> list[tuple[str, Any]]:
    if isinstance(inputs, Mapping):
        if inputs and set(inputs) == set(prompt.slots):
            raise UsageError(
                f"{where}: inputs= maps slots to values, which is one input; write inputs=[{{…}}]. "
                "A mapping is read as ID to input."
            )
        return [(repr(str(name)), value) for name, value in inputs.items()]
    if isinstance(inputs, bytes | bytearray):
        raise UsageError(f"{where}: inputs= is one text; write a list, inputs=[{inputs!r:.40}].")
    if hasattr(inputs, "__next__"):
        raise UsageError(
            f"{where}: inputs= is a {type(inputs).__name__}, which can be read only once; write list(…) around it."
        )
    if not isinstance(inputs, Sequence):
        raise UsageError(
            f"{where}: inputs= must be a list of texts or of mappings, or a mapping of ID to either, not "
            f"{type(inputs).__name__}."
        )
    return [(f"{number} {_short(value)}", value) for number, value in enumerate(inputs, 1)]


def _input(name: str, value: Any, prompt: Prompt, where: str) -> Input:
    if isinstance(value, str):
        if len(prompt.slots) > 1:
            slots = ", ".join(prompt.slots)
            raise UsageError(
                f"{where}: input {name} is one text, and the prompt has {len(prompt.slots)} slots ({slots}); give a "
                "mapping of slot to value."
            )
        values: dict[str, object] = {prompt.slots[0]: value}
    elif isinstance(value, Mapping):
        values = {str(slot): each for slot, each in value.items()}
    else:
        raise UsageError(
            f"{where}: input {name} is of type {type(value).__name__}; give a text, or a mapping of slot to value."
        )
    found = Input(name, value, values)
    try:
        found.put_into(prompt)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return found


def _short(value: Any) -> str:
    pairs = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, str):
        return f"({quoted(value, _SHOWN)})"
    shown = ", ".join(
        f"{slot}={quoted(each, _SHOWN) if isinstance(each, str) else repr(each)}" for slot, each in pairs
    )
    shown = shown or repr(value)
    return f"({shown if len(shown) <= 2 * _SHOWN else shown[: 2 * _SHOWN - 1] + '…'})"


def evaluate(  # noqa: PLR0913 - public; the options are keywords
    prompt: AnyPrompt,
    target: AnyTarget | None = None,
    *,
    inputs: Any = None,
    expected: Any = None,
    before: Robustness | Mapping[str, Any] | None = None,
    mutate: str | None = None,
    call: int | None = None,
    match: str | re.Pattern[str] | None = None,
    mutations: Mutations = 8,
    threshold: float = 0.85,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    only: str | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Robustness:
    """How the answers of a target survive harmless changes to a prompt.

    Args:
        prompt: Text, a ``Prompt``, a path to a text file, or chat messages. Slots
            that no input fills are sent as they are, with a note.
        target: ``"openai:gpt-5-mini"``, ``"anthropic:…"``, ``"compatible:MODEL@URL"``, ``"simulated"``, a ``Target``,
            or a function of the application that takes the prompt and returns the answer.
        inputs: What is put into the prompt's slots, one case each: a list of texts (a prompt of one slot), a list of
            mappings of slot to value, a mapping of ID to either, or the path of a data file. All cases have the same
            mutations, one score and one verdict: inputs × (1 + mutations) calls.
        expected: The gold answer, of the kind that is answered: text, a label, JSON; with ``inputs`` a list of them,
            or a mapping by ID; of a data file its column ``expected``, or the one that ``"column:NAME"`` names.
            ``result.gold`` says how often answers are as expected; it changes no verdict.
        before: For ``gate="no-worse"``: the result of a run before, or its JSON report, which the same trials are held
            against.
        mutate: ``"role:system"`` or ``"role:user"``: what an application's function is given stays as it is, and that
            role's text in its model requests is mutated on the wire.
        call: Which request's text is meant, by its index among the baseline's.
        match: A regular expression that the text meant holds.
        mutations: How many, 1 to 10,000; or how many of what, as :func:`pytest_promptfuzz.mutate` takes it.
        threshold: What the score must reach, in [0, 1].
        seed: Of the plan of mutations.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        only: The ID of the one trial to run.
        progress: Called after each run with how many were made.
        settings: ``gate=``, ``task=``, ``operators=``, ``part=``, ``equivalent_at=``, ``minor_at=``, ``profile=``,
            ``schema=``, ``max_deviations=``, ``ignore=``, ``tiers=``, ``guards=``,
            ``judge=``, ``judge_when=``, ``judge_repeats=``, ``quality=``, ``samples=``,
            ``baseline_runs=``, ``stop=``, ``shrink=``, ``controls=``.

    Returns:
        The result; ``result.verdict`` is ``pass``, ``brittle``, ``noisy`` or ``inconclusive``.

    Raises:
        UsageError: A setting, the prompt, an input or the target is wrong, or there is nothing to mutate.
        ConfigurationError: A key, an extra or a model name is missing; or with ``mutate=`` no model call was seen.
        BaselineFailed: The application's function raises on the unmutated prompt.
    """
    options = EvaluateOptions(
        inputs, expected, before, mutate, call, match, parameters, session, only, progress
    )
    settings = {"mutations": mutations, "threshold": threshold, "seed": seed, **settings}
    asking = TargetEvaluation(prompt, target, settings, options)
    with asking.watched(), intercepting(), speculating(asking.evaluation) as told:
        for each in asking.cases.inputs:
            drive(asking.case(each), asking.body, begin=told.begin, ran=told.ran)
        drive(asking.again(), asking.body, begin=told.begin, ran=told.ran)
    return asking.evaluation.conclude()


async def aevaluate(  # noqa: PLR0913 - public; the options are keywords
    prompt: AnyPrompt,
    target: AnyTarget | None = None,
    *,
    inputs: Any = None,
    expected: Any = None,
    before: Robustness | Mapping[str, Any] | None = None,
    mutate: str | None = None,
    call: int | None = None,
    match: str | re.Pattern[str] | None = None,
    mutations: Mutations = 8,
    threshold: float = 0.85,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    only: str | None = None,
    progress: Callable[[int], object] | None = None,
    **settings: Any,
) -> Robustness:
    """As ``evaluate``, with the calls for all mutations and inputs running concurrently in this event loop."""
    options = EvaluateOptions(
        inputs, expected, before, mutate, call, match, parameters, session, only, progress
    )
    settings = {"mutations": mutations, "threshold": threshold, "seed": seed, **settings}
    return await make_evaluation(TargetEvaluation(prompt, target, settings, options))


async def make_evaluation(asking: TargetEvaluation) -> Robustness:
    """Make an evaluation with concurrent calls, and return what it comes to."""
    order = asking.evaluation.settings.order
    concurrency = asking.evaluation.session.concurrency
    order.concurrent = concurrency > 1
    with asking.watched(), intercepting():
        async with connected(asking.target):
            rest = list(asking.cases.inputs)
            if asking.is_function:
                # Whose a call is can be told in sequence always, and this one shows whether it can otherwise.
                first, *rest = rest
                await adrive(asking.case(first), asking.abody, concurrency=concurrency)
            order.together = order.concurrent
            cases = [asking.case(each) for each in rest]
            for steps in [together(cases)] if order.together else cases:
                await adrive(steps, asking.abody, concurrency=concurrency)
            await adrive(asking.again(), asking.abody, concurrency=concurrency)
    return asking.evaluation.conclude()


def given_target(target: AnyTarget | None, where: str) -> AnyTarget:
    """The target of a call.

    Args:
        target: As it was given.
        where: The function that was called.

    Raises:
        UsageError: None was.
    """
    if target is None:
        first = "found" if where == "transfer" else "prompt"
        raise UsageError(
            f'{where}() needs a target: {where}({first}, "openai:gpt-5-mini"), or "simulated", which needs no key.'
        )
    return target


class EvaluateOptions(NamedTuple):
    """What ``evaluate`` takes beside the prompt, the target and the settings of the contract; see there."""

    inputs: Any = None
    expected: Any = None
    before: Robustness | Mapping[str, Any] | None = None
    mutate: str | None = None
    call: int | None = None
    match: str | re.Pattern[str] | None = None
    parameters: Mapping[str, Any] | None = None
    session: Session | None = None
    only: str | None = None
    progress: Callable[[int], object] | None = None


class TargetEvaluation:
    """One call of ``evaluate``, or of another function that makes an evaluation of its own kind: it, and its bodies.

    Args:
        prompt: As ``evaluate`` takes it.
        target: Likewise.
        settings: Of the contract, by name.
        options: What else ``evaluate`` takes.
        make: Makes the evaluation.
        where: The function's name, for messages.
    """

    def __init__(
        self,
        prompt: AnyPrompt,
        target: AnyTarget | None,
        settings: Mapping[str, Any],
        options: EvaluateOptions,
        *,
        make: Callable[[EvaluationSettings], Evaluation] = Evaluation,
        where: str = "evaluate",
    ) -> None:
        self.prompt = as_prompt(prompt)
        contract = Contract.of(settings, where=where)
        self.target = resolve(given_target(target, where))
        self._own = isinstance(target, str)
        self.is_function = function = isinstance(self.target, CallableTarget)
        self._on_wire = _on_wire(options, function=function, where=where)
        if options.parameters and function:
            raise UsageError(
                f"{where}: parameters= are for models; a function of the application takes none."
            )
        if options.inputs is None and not function:
            try:
                self.prompt.limited(contract.plan.part)
            except UsageError as error:  # said before anything is asked
                raise UsageError(f"{where}: {error}") from None
        self._asker = TargetAsker(self.target, dict(options.parameters or {}))
        self._progress = options.progress
        self._runs = 0
        if options.inputs is None:
            expected = options.expected
            gold = None if expected is None else read_expected(expected, None, where)[0]
            given: tuple[Input, ...] = (Input(expected=gold),)
        else:
            given = read_inputs(options.inputs, self.prompt, where, options.expected)
        self.cases = Cases(self.prompt, given, same_mutations=not contract.plan.part.wants_input)
        session = options.session
        if session is None:
            session = Session(embedder=installed_embedder(), entailment=installed_entailment())
        self.evaluation = make(
            EvaluationSettings(
                contract,
                session,
                where,
                target=self.target.name,
                simulated=simulated_of(self.target),
                on_wire=self._on_wire,
                only=options.only,
                body=BodyTraits(counts_runs=function and self._on_wire is None),
            )
        )
        if options.before is not None:
            if contract.verdict.gate != "no-worse":
                raise UsageError(f"{where}: before= is for gate='no-worse'; give both, or leave it out.")
            self.evaluation.before = Before(outcomes_before(options.before, where))
        if options.inputs is None and self.prompt.slots and not self.prompt.inputs and not function:
            self.evaluation.notes.append(Note.of("evaluations:slots-unfilled", names=[*self.prompt.slots]))

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Close the target's clients at the end, if the target was made here."""
        try:
            yield
        finally:
            close = getattr(self.target, "close", None)
            if self._own and close is not None:
                close()

    def case(self, given: Input) -> Steps:
        """The steps of one input."""
        return self.evaluation.case(self.cases.prompt_of(given), given.name, given.expected)

    def again(self) -> Steps:
        """The steps of all inputs that are asked again."""
        return self.evaluation.again()

    def body(self, prompt: Prompt) -> Any:
        """Ask the target, in a run."""
        try:
            return self._asker.ask(self._sent(prompt))
        finally:
            if self._progress is not None:
                self._ran()

    async def abody(self, prompt: Prompt) -> Any:
        """Ask the target, in a run of an event loop."""
        try:
            return await self._asker.aask(self._sent(prompt))
        finally:
            if self._progress is not None:
                self._ran()

    def _sent(self, prompt: Prompt) -> Prompt:
        """What is asked in the run that goes on."""
        given = self.cases.inputs[watch_of_the_run().settings.case]
        if self._on_wire is not None:
            return self.cases.sent(self.cases.prompt_of(given), given)
        return self.cases.sent(prompt, given)

    def _ran(self) -> None:
        self._runs += 1
        if self._progress is not None:
            self._progress(self._runs)


def _on_wire(options: EvaluateOptions, *, function: bool, where: str) -> OnWire | None:
    """What ``mutate=``, ``call=`` and ``match=`` say.

    Raises:
        UsageError: They name no role, or the target is a model, whose requests hold the prompt itself.
    """
    mutate = options.mutate
    if mutate is not None and not str(mutate).startswith(PREFIX):
        raise UsageError(
            f"{where}: mutate={mutate!r} is not a role of the application's requests, 'role:system' or 'role:user': "
            "the prompt that it is given is mutated without."
        )
    if mutate is not None and not function:
        raise UsageError(
            f"{where}: mutate={mutate!r} is for a function of the application. For a model give chat messages, and "
            f"part={str(mutate).removeprefix(PREFIX)!r}."
        )
    if mutate is None and options.call is None and options.match is None:
        return None
    return OnWire.of(mutate, options.call, options.match, where)
