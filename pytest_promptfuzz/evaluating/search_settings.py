"""Settings of a search: objectives, limits, checks; the log of what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from pytest_promptfuzz.comparing.formats.data_text import plain, text_of
from pytest_promptfuzz.comparing.metrics import TIERS, measure
from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.mutations.engine.selection import strata_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.searching.methods import DEFAULT, method_of
from pytest_promptfuzz.searching.search_loop import Seen
from pytest_promptfuzz.searching.search_result import Better
from pytest_promptfuzz.searching.space import MASKED_BY
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.mutations.engine.selection import Selection
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.searching.search_loop import Found, Method
    from pytest_promptfuzz.searching.search_result import Ended
    from pytest_promptfuzz.searching.space import Space


# What a search looks for: how near an answer is to what must not happen, and whether it is there.


BLEU_BELOW = 0.2
"""BLEU under which a translation counts as another one (S3)."""
NEAR = 0.999
"""The loss of an answer that is as bad as can be and still not there."""


class ObservedAnswer(NamedTuple):
    """What an objective sees of an answer.

    Attributes:
        value: It, as plain data.
        outcome: What the test's own comparison and assertions say: ``equivalent``, ``minor``, ``deviation``,
            ``undecided``.
        similarity: The comparison's, 0 to 1; ``None`` where it has none.
        why: Why it is that outcome, in one line.
    """

    value: Any
    outcome: str = "equivalent"
    similarity: float | None = 1.0
    why: str = ""


class Objective(Protocol):
    """What a search looks for. ``name`` is for reports."""

    @property
    def name(self) -> str:
        """How reports name it."""

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:
        """How near an answer is to the goal, in [0, 1], and whether it is there.

        Raises:
            UsageError: The answers are not of a kind that it can read.
        """


def said(objective: Objective, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:
    """Why an answer that reaches an objective's goal does, in one line."""
    told: Callable[[ObservedAnswer, ObservedAnswer], str] | None = getattr(objective, "said", None)
    reached = Note.of("searches:goal-reached", objective=objective.name)
    return (told(baseline, answer) if callable(told) else "") or sentence(reached)


def answer_of(trial: Trial) -> ObservedAnswer:
    """A trial as objectives see it."""
    comparison = trial.comparison
    if trial.failure is not None:
        first = (trial.failure.message.strip().splitlines() or [""])[0]
        return ObservedAnswer(
            trial.value, trial.outcome, 0.0, f"{trial.failure.type}: {first}".removesuffix(": ")
        )
    return ObservedAnswer(
        trial.value,
        trial.outcome,
        None if comparison is None else comparison.similarity,
        "" if comparison is None else comparison.explanation,
    )


@dataclass(frozen=True, slots=True)
class Deviation:
    """The answer is a deviation, as a test would see it: an assertion fails, or comparison says so.

    Attributes:
        minor: Whether a minor difference is enough.
        judged: Whether a judge says what is another answer, for reports.
    """

    minor: bool = False
    judged: bool = False

    @property
    def name(self) -> str:
        """How reports name it."""
        if self.judged:
            return "judge"
        return "minor" if self.minor else "deviation"

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:  # noqa: ARG002 (the outcome compares them)
        """See ``Objective``."""
        if answer.outcome == "deviation" or (self.minor and answer.outcome == "minor"):
            return Seen(1.0, reached=True)
        if answer.similarity is None:
            return Seen(0.5 if answer.outcome == "undecided" else 0.0, reached=False)
        return Seen(min(NEAR, 1.0 - answer.similarity), reached=False)

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:  # noqa: ARG002 (as the others)
        """Why an answer is there: what fails, or how the comparison puts it."""
        return answer.why


@dataclass(frozen=True, slots=True)
class LabelFlip:
    """The answer's label is another one. All that is known of an answer is whether it is: what model APIs give."""

    name: str = "label"

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:
        """See ``Objective``."""
        found = compare(
            _label(baseline.value),
            _label(answer.value),
            task="classification",
            semantic=False,
            entailment=False,
        )
        reached = found.outcome == "deviation"
        return Seen(float(reached), reached)

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:
        """Why an answer is there."""
        labels = {"before": _label(baseline.value), "now": _label(answer.value)}
        return sentence(Note.of("searches:label-became", **labels))


@dataclass(frozen=True, slots=True)
class Confidence:
    """The label that the target is surest of is another one; the loss is what confidence in the right one was lost.

    Answers are mappings of label to confidence, or hold ``label`` and ``confidence`` (0 to 1).
    """

    name: str = "confidence"

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:
        """See ``Objective``."""
        right, _ = _surest(baseline.value)
        likeliest, _ = _surest(answer.value)
        now = _confidences(answer.value)
        sure = now.get(right)
        if sure is None:  # another label, of which alone it is known how sure it is
            sure = 1.0 - max(now.values())
        return Seen(min(1.0, max(0.0, 1.0 - sure)), likeliest != right)

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:
        """Why an answer is there."""
        before, now = (_surest(each.value) for each in (baseline, answer))
        return sentence(Note.of("searches:surest-label-became", before=before, now=now))


@dataclass(frozen=True, slots=True)
class Unlike:
    """The answer is less like a reference than a bound, by one of the measures of ``comparing.metrics``.

    Attributes:
        tier: The measure's name.
        below: The bound, in (0, 1]: an answer is there when it is less like.
        reference: What it is held against; ``None`` is the baseline's answer.
    """

    tier: str = "bleu"
    below: float = BLEU_BELOW
    reference: str | None = None

    def __post_init__(self) -> None:
        """Refuse a measure or a bound that is none."""
        measure(self.tier)
        if isinstance(self.below, bool) or not isinstance(self.below, int | float) or not 0 < self.below <= 1:
            raise UsageError(f"objective: below={self.below!r} is not a number above 0 and up to 1.")

    @property
    def name(self) -> str:
        """How reports name it."""
        return f"{self.tier} below {self.below:g}"

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:
        """See ``Objective``."""
        likeness = self._likeness(baseline, answer)
        return Seen(min(1.0, max(0.0, 1.0 - likeness)), likeness < self.below)

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:
        """Why an answer is there."""
        likeness = self._likeness(baseline, answer)
        note = Note.of("searches:too-unlike", measure=self.tier, likeness=likeness, bound=self.below)
        return sentence(note)

    def _likeness(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> float:
        reference = text_of(baseline.value) if self.reference is None else self.reference
        likeness = measure(self.tier)(reference, text_of(answer.value))
        return 1.0 if likeness is None else likeness  # too long to be measured


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's, of the baseline's value and the answer's.

    It returns whether the answer is there, or how near it is, from 0 to 1, where 1 is there.
    """

    function: Callable[[Any, Any], object]

    @property
    def name(self) -> str:
        """How reports name it."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:
        """See ``Objective``."""
        said = self.function(baseline.value, answer.value)
        if isinstance(said, bool):
            return Seen(float(said), said)
        if isinstance(said, int | float) and 0 <= said <= 1:
            return Seen(float(said), said >= 1)
        raise UsageError(
            f"objective: {self.name} returned {said!r:.80}; return whether the answer is what must not happen, or how "
            "near it is, from 0 to 1."
        )

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:  # noqa: ARG002 (the function is not called twice)
        """Why an answer is there."""
        return sentence(Note.of("searches:function-says-so", name=self.name))


@dataclass(frozen=True, slots=True)
class Referenced:
    """An objective that holds answers against a reference, such as a translation, and not against the baseline's.

    Attributes:
        objective: What is looked for.
        reference: As plain data.
    """

    objective: Objective
    reference: Any

    @property
    def name(self) -> str:
        """How reports name it."""
        return self.objective.name

    def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Seen:  # noqa: ARG002 (as all objectives)
        """See ``Objective``."""
        return self.objective(ObservedAnswer(self.reference), answer)

    def said(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> str:  # noqa: ARG002 (as all objectives)
        """Why an answer is there."""
        return said(self.objective, ObservedAnswer(self.reference), answer)


def referenced(wanted: object, reference: Any, where: str) -> Objective:
    """An objective that measures by a reference; the objective itself where there is none.

    Raises:
        UsageError: It compares with the baseline's answer alone.
    """
    objective = objective_of(wanted, where)
    if reference is None:
        return objective
    if isinstance(objective, Deviation):
        raise UsageError(
            f"{where}: objective={objective.name!r} compares with the baseline's answer; a reference goes with bleu, "
            "rouge-l<0.5 and the like, or label."
        )
    return Referenced(objective, reference)


_NAMED: dict[str, Callable[[], Objective]] = {
    "deviation": Deviation,
    "minor": lambda: Deviation(minor=True),
    "label": LabelFlip,
    "confidence": Confidence,
    "judge": lambda: Deviation(judged=True),
    "bleu": Unlike,
}


def objective_of(wanted: object, where: str) -> Objective:
    """The objective that is meant: by its name, as ``TIER<BOUND``, as an object with a name, or as a function.

    Raises:
        UsageError: There is none of that name, or a bound out of range.
    """
    if isinstance(wanted, str):
        if wanted in _NAMED:
            return _NAMED[wanted]()
        tier, sign, bound = wanted.partition("<")
        if sign and tier.strip() in TIERS:
            try:
                below = float(bound)
            except ValueError:
                raise UsageError(
                    f"{where}: objective={wanted!r}: {bound.strip()!r} is no number; write {tier.strip()}<0.5, say."
                ) from None
            if not 0 < below <= 1:
                raise UsageError(
                    f"{where}: objective={wanted!r}: {bound.strip()} must be a number above 0 and up to 1."
                )
            return Unlike(tier.strip(), below)
        known = [*_NAMED, *(f"{name}<0.5" for name in TIERS)]
        raise UsageError(f"{where}: {not_among(f'objective={wanted!r}', wanted, known)}")
    if not callable(wanted):
        raise UsageError(
            f"{where}: objective={wanted!r:.80} is not a name ({', '.join(_NAMED)}), such as 'rouge-l<0.5', or a "
            "function of the baseline's answer and the answer."
        )
    if isinstance(getattr(wanted, "name", None), str):
        return cast("Objective", wanted)
    return Own(wanted)


def _label(value: Any) -> str:
    value = plain(value)
    if isinstance(value, Mapping) and "label" in value:
        value = value["label"]
    elif isinstance(value, Mapping) and value and all(_is_share(each) for each in value.values()):
        value = max(value.items(), key=lambda each: each[1])[0]
    return text_of(value)


def _surest(value: Any) -> tuple[str, float]:
    """The label that is likeliest, and how sure it is."""
    return max(_confidences(value).items(), key=lambda each: each[1])


def _confidences(value: Any) -> dict[str, float]:
    value = plain(value)
    if isinstance(value, Mapping):
        if "label" in value and _is_share(value.get("confidence")):
            return {str(value["label"]): float(value["confidence"])}
        if value and all(_is_share(each) for each in value.values()):
            return {str(label): float(share) for label, share in value.items()}
    raise UsageError(
        f"objective='confidence': the answer {value!r:.80} is no mapping of labels to confidences from 0 to 1, and "
        "has no 'label' and 'confidence'. Use objective='label' for a target that only names a label."
    )


def _is_share(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 1


QUERIES = 200
_FEW_CHANGES = 10  # that a budget should at least suffice for
MOST_QUERIES = 1_000_000
BATCH = 8
REPEATS = 5
"""Where a fifth of the answers reach the goal whatever is asked, one search of 200 queries in 25 would believe one; the
unmutated prompt, asked as often, ends most of these."""


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """What a search may do to a prompt.

    Attributes:
        operators: What makes the changes; ``None`` is what a plan draws on.
        top: How many choices a place has at most.
        any_sense: Whether a word's substitutes are taken whatever part of speech it is.
        change_rate: The most words that may change, as a share.
        words: The same as a number; ``None`` sets no limit.
        cosine: How like the prompt's embedding the changed one's must be, -1 to 1; ``None`` for any.
        allows: The user's predicate of a mutation.
    """

    operators: Selection = None
    top: int = 10
    any_sense: bool = False
    change_rate: float = 1.0
    words: int | None = None
    cosine: float | None = None
    allows: Callable[[Mutation], bool] | None = None


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a search goes about it.

    Attributes:
        method: How the space is searched.
        name: The method's name, for reports.
        objective: What is looked for.
        queries: How often a prompt may be asked, the unmutated one included, 1 or more.
        batch: How many are asked at once, 1 or more. It decides what is asked, so that a rerun asks the same; 1 asks
            least, more waits less.
        repeats: How much more often than not what reaches the goal must reach it again before it is believed, 0 or
            more; the unmutated prompt is then asked as often.
        baseline_runs: How often the unmutated prompt is asked, 1 or more.
        prune: Whether changes that the goal does not need are given up.
        seed: Of what is drawn.
        cost: US dollars that may be spent; ``None`` sets no limit.
        seconds: After which nothing more is asked; ``None`` sets no limit.
        changes: What may be done to the prompt.
    """

    method: Method
    name: str = DEFAULT
    objective: Objective = field(default_factory=Deviation)
    queries: int = QUERIES
    batch: int = BATCH
    repeats: int = REPEATS
    baseline_runs: int = 2
    prune: bool = True
    seed: int = 0
    cost: float | None = None
    seconds: float | None = None
    changes: ChangeLimits = field(default_factory=ChangeLimits)

    @classmethod
    def of(
        cls, method: object = DEFAULT, objective: object = "deviation", *, where: str, **values: Any
    ) -> SearchSettings:
        """Read settings, those of ``ChangeLimits`` among them.

        Raises:
            UsageError: An unknown method or objective, a wrong type, or a value out of range.
        """
        chosen = method_of(method, where)  # type: ignore[arg-type]  # it looks for itself
        name = method if isinstance(method, str) else type(method).__name__
        limits = {each.name: values.pop(each.name) for each in fields(ChangeLimits) if each.name in values}
        changes = ChangeLimits(**limits)
        made = cls(chosen, name, objective_of(objective, where), changes=changes, **values)
        strata_of(changes.operators)  # an unknown one is said before anything is asked
        made._check(where)
        return made

    def left_to_search(self, made: int) -> int:
        """How many queries the method has, once so many were made; some are held back to ask the unmutated prompt."""
        left = max(0, self.queries - made)
        return left - min(self.repeats, left // 4)

    def budget_notes(self, space: Space, made: int) -> list[Note]:
        """What the person must know where the budget ends before any changed prompt is asked.

        Args:
            space: What is searched.
            made: How many queries were made.
        """
        first = getattr(self.method, "asks_first", lambda _: 0)(space)
        left = self.left_to_search(made)
        if first < left:
            return []
        needed = made + first + _FEW_CHANGES
        if not first:
            return [Note.of("searches:budget-without-changes", queries=self.queries, needed=needed)]
        note = Note.of(
            "searches:budget-for-places-alone",
            method=self.name,
            first=first,
            places=len(space),
            queries=self.queries,
            left=left,
            needed=needed,
        )
        return [note]

    def _check_limits(self, where: str) -> None:
        rate, cost, seconds = self.changes.change_rate, self.cost, self.seconds
        if not _is_limit(rate, 1.0):
            raise UsageError(
                f"{where}: max_change_rate={rate!r:.80} is not a number above 0 and up to 1, the share of words that "
                "may change."
            )
        if not _is_limit(cost):
            raise UsageError(f"{where}: max_cost={cost!r:.80} is not a number above 0, in US dollars.")
        if not _is_limit(seconds):
            raise UsageError(f"{where}: max_seconds={seconds!r:.80} is not a number above 0.")

    def _check(self, where: str) -> None:
        changes = self.changes
        for name, value, least, most in (
            ("queries", self.queries, 1, MOST_QUERIES),
            ("batch", self.batch, 1, 1000),
            ("repeats", self.repeats, 0, 100),
            ("baseline_runs", self.baseline_runs, 1, 100),
            ("top", changes.top, 1, 1000),
        ):
            if type(value) is not int or not least <= value <= most:
                raise UsageError(
                    f"{where}: {name}={value!r:.80} is not a whole number from {least} to {most:,}."
                )
        if type(self.seed) is not int:
            raise UsageError(f"{where}: seed={self.seed!r:.80} is not a whole number.")
        if changes.words is not None and (type(changes.words) is not int or changes.words < 1):
            raise UsageError(f"{where}: max_words={changes.words!r:.80} is not a whole number of 1 or more.")
        self._check_limits(where)
        if changes.cosine is not None and not (_is_number(changes.cosine) and -1 <= changes.cosine <= 1):
            raise UsageError(f"{where}: min_cosine={changes.cosine!r:.80} is not a number from -1 to 1.")
        if changes.allows is not None and not callable(changes.allows):
            raise UsageError(f"{where}: allows={changes.allows!r:.80} is not a function of a mutation.")
        for name, flag in (("prune", self.prune), ("any_sense", changes.any_sense)):
            if not isinstance(flag, bool):
                raise UsageError(f"{where}: {name}={flag!r:.80} is not True or False.")


def _is_limit(value: float | None, most: float = inf) -> bool:
    """Whether a value sets a limit that can be kept, or none."""
    return value is None or (_is_number(value) and 0.0 < value <= most and isfinite(value))


def ended_by(found: Found, made: int, settings: SearchSettings) -> tuple[Ended, Note]:
    """Why a search that found nothing ended, by name and as a note."""
    if found.doubtful:
        return "unconfirmed", Note.of("searches:unconfirmed")
    if not found.spent:
        return "exhausted", Note.of("searches:exhausted", method=settings.name)
    return "queries-spent", Note.of("searches:queries-spent", made=made)


def control_notes(told: int, wanted: int) -> list[Note]:
    """What the person must know where the unmutated prompt did not answer as often beside a find as it should have."""
    if told >= wanted:
        return []
    return [Note.of("searches:unmutated-unanswered", answered=told, wanted=wanted)]


def answer_notes(settings: SearchSettings, tried: Tried) -> list[Note]:
    """What the person must know of the answers: where none told the search anything, or where they vary."""
    notes = []
    once = sum(each.reached > 0 and 2 * each.reached <= each.asked for each in tried.known.values())
    if once:
        notes.append(Note.of("searches:finds-lost", amount=once))
    # An answer that can only be right or wrong tells no more than that.
    if tried.all_alike and not isinstance(settings.objective, Deviation | LabelFlip):
        objective = settings.objective.name
        notes.append(Note.of("searches:objective-constant", objective=objective, loss=tried.start.loss))
    return notes


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float)


# What a search has tried: each changed prompt, how often it reached the goal, and which were the best.


_FEW = 5  # so few answers may all be alike by chance


@dataclass(slots=True)
class TriedPrompt:
    """A changed prompt that was asked, and what came of it.

    Attributes:
        mutation: The change.
        trial: Its run, the last that reached the goal where any did.
        loss: Its loss.
        asked: How often it was asked.
        reached: How often it reached the goal.
    """

    mutation: Mutation
    trial: Trial
    loss: float
    asked: int = 0
    reached: int = 0


@dataclass(slots=True)
class Tried:
    """All of them.

    Attributes:
        start: What came of the unmutated prompt.
        known: By text.
        trace: Queries after which the best was better.
        first: The change that reached the goal first.
        first_at: By how many queries.
    """

    start: Seen = field(default_factory=lambda: Seen(0.0, reached=False))
    known: dict[str, TriedPrompt] = field(default_factory=dict)
    trace: list[Better] = field(default_factory=list)
    first: Mutation | None = None
    first_at: int = 0

    @property
    def best_loss(self) -> float:
        """The highest loss so far."""
        return max([self.start.loss, *(each.loss for each in self.trace)])

    @property
    def all_alike(self) -> bool:
        """Whether every answer was as far from the goal as the unmutated prompt's."""
        return len(self.known) >= _FEW and all(each.loss == self.start.loss for each in self.known.values())

    def take(self, mutation: Mutation, trial: Trial, seen: Seen, query: int) -> TriedPrompt | None:
        """Take down what came of a query; what masks words is a question, and is not kept."""
        if MASKED_BY in mutation.operators:
            return None
        known = self.known.setdefault(mutation.text, TriedPrompt(mutation, trial, seen.loss))
        known.asked += 1
        if seen.loss > self.best_loss:
            self.trace.append(Better(query, seen.loss, seen.reached))
        if seen.reached:
            known.reached += 1
            known.trial, known.loss = trial, seen.loss
            if self.first is None:
                self.first, self.first_at = mutation, query
        return known

    def smallest(self, repeats: int) -> TriedPrompt | None:
        """What reached the goal with the fewest words changed, of what was asked again so often that it is believed."""
        there = [each for each in self.known.values() if 2 * each.reached - each.asked > repeats]
        return min(there, key=lambda each: each.mutation.change_rate, default=None)

    def nearest(self) -> TriedPrompt | None:
        """What came nearest; ``None`` where nothing came nearer than the unmutated prompt."""
        best = max(self.known.values(), key=lambda each: each.loss, default=None)
        return best if best is not None and best.loss > self.start.loss else None
