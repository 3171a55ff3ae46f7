"""The planner: which mutations a prompt gets, seeded and distinct, and notes on those that it does not allow."""

from __future__ import annotations

import math
import re
import warnings
from collections import deque
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError, quoted
from pytest_promptfuzz.mutations.analysis.draft import draft_of
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits, touched_words
from pytest_promptfuzz.mutations.engine.mutation import Mutation, severity_of
from pytest_promptfuzz.mutations.engine.selection import DEFAULT, Mutations, PlanRequest, strata_of, wanted
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.text.expressions import expression, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.engine.edits import Edit
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.mutations.engine.selection import Selection, Stratum


# How many mutations each part of a plan gets.


@lru_cache(maxsize=256)
def largest_remainder(total: int, weights: tuple[float, ...]) -> tuple[int, ...]:
    """``total`` shared out in proportion to ``weights`` (Hamilton's method); earlier parts win ties.

    Args:
        total: How many there are, 0 or more.
        weights: Not negative, at least one above zero.

    >>> largest_remainder(8, (40, 30, 30))
    (3, 3, 2)
    """
    exact = [Fraction(weight) for weight in weights]
    whole = sum(exact)
    quotas = [total * weight / whole for weight in exact]
    shares = [math.floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(weights)), key=lambda i: (shares[i] - quotas[i], i))
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return tuple(shares)


# What a plan says of the mutations that a prompt does not allow: which, and why.


_MOST_NAMED = 5  # operators whose need a message states, and protected spans it shows
_MOST_SHOWN = 24  # characters of a protected span
_FILE = expression(r"[^\s{}]+\.[A-Za-z0-9]{1,5}")
_CHAT = expression(r"[\[{].*[\"'](?:role|messages)[\"']\s*:", re.DOTALL)
_LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "pt": "Portuguese",
}


class FilledStratum(NamedTuple):
    """How one stratum of a plan was filled.

    Attributes:
        stratum: What was drawn on.
        quota: How many it was to give.
        got: How many of these it gave.
        lent: How many it gave in the place of others.
        missing: How many of its own nothing stood in for.
    """

    stratum: Stratum
    quota: int
    got: int
    lent: int
    missing: int

    @property
    def shown(self) -> str:
        """``1 of 2 semantic``."""
        return f"{self.got} of {self.quota} {self.stratum.name}"

    @property
    def told(self) -> str:
        """``no semantic mutation``, or ``only 1 of 2 semantic mutations``."""
        name = self.stratum.name
        return f"only {self.shown} mutations" if self.got else f"no {name} mutation"


def notes_of(parts: Sequence[FilledStratum], *, ready: int, draft: Draft, asked: bool) -> Iterator[str]:
    """What gave way to what, which controls are missing, and how many mutations are.

    Args:
        parts: The strata of the plan.
        ready: How many mutations were given ready made.
        draft: The prompt, as the operators see it.
        asked: Whether the test named what it wants. Nobody misses a part of the usual mix that another stands in for,
            unless the language or the task bars all of it.
    """
    total = ready + sum(each.got + each.lent for each in parts)
    if not total:
        yield _none(parts, draft)
        return
    controls = [each for each in parts if each.missing and each.stratum.control]
    lost = sum(each.missing for each in controls)
    if lost:
        # Loudest: without its controls a test may pass although it cannot fail.
        made = ", ".join(_made(each, draft) for each in controls)
        place = "other place" if any(each.got for each in controls) else "place"
        yield f"{made}: the prompt has no {place} for {'it' if len(controls) == 1 else 'them'}."
    short = " and ".join(
        each.told + barred
        for each in parts
        if each.got < each.quota and ((barred := _barred(each.stratum, draft, " ({})")) or asked)
    )
    if short and any(each.lent for each in parts):
        gains = " and ".join(f"{each.lent} more {each.stratum.name}" for each in parts if each.lent)
        used = "one was" if sum(each.lent for each in parts) == 1 else "ones were"
        yield f"{short[0].upper()}{short[1:]} could be made of this prompt; {gains} {used} used."
    if any(each.missing for each in parts if not each.stratum.control):
        yield _few(parts, total, total + sum(each.missing for each in parts), draft)


def _few(parts: Sequence[FilledStratum], total: int, wanted: int, draft: Draft) -> str:
    short = [
        each.shown + _barred(each.stratum, draft, ": {}")
        for each in parts
        if each.missing and (len(parts) > 1 or _barred(each.stratum, draft, "{}"))
    ]
    where = f" ({', '.join(short)})" if short else ""
    return (
        f"this prompt allows {total} of {wanted} mutations{where}. Lower mutations=, or name more operators."
    )


_CHOOSE = "Choose another one: `promptfuzz operators` lists them."


def _none(parts: Sequence[FilledStratum], draft: Draft) -> str:
    """Nothing was found at all: the first few operators, and what bars each."""
    if len(parts) == 1:
        stratum = parts[0].stratum
        what = (
            f"no {stratum.name} operator fits"
            if stratum.capped
            else f"the operator {stratum.name!r} does not fit"
        )
        return f"{what} this prompt{_barred(stratum, draft, ': {}')}. {_CHOOSE}"
    names = [f"{each.stratum.name}{_barred(each.stratum, draft, ' ({})')}" for each in parts[:_MOST_NAMED]]
    rest = len(parts) - len(names)
    return f"no operator fits this prompt: {', '.join(names)}{f' and {rest} more' if rest else ''}. {_CHOOSE}"


def _made(part: FilledStratum, draft: Draft) -> str:
    """How many controls an operator made."""
    controls = "control" if part.quota == 1 else "controls"
    return f"{part.stratum.name} made {part.got} of {part.quota} {controls}{_barred(part.stratum, draft, ' ({})')}"


def _barred(stratum: Stratum, draft: Draft, form: str) -> str:
    """Why none of its operators acts on the prompt, its language or its task; empty where nothing can be told."""
    if not stratum.operators:
        return ""
    if any(not each.languages or draft.language in each.languages for each in stratum.operators):
        refused = stratum.operators[0].refused(draft)  # the others are of the same dimension
        return form.format(refused) if refused else ""
    known = sorted({code for each in stratum.operators for code in each.languages})
    only = f"{', '.join(_LANGUAGES.get(code, code) for code in known)} only"
    if draft.language in _LANGUAGES:
        only += f", and the prompt reads as {_LANGUAGES[draft.language]}"
    return form.format(only)


def nothing_free(prompt: Prompt) -> str:
    """A prompt or an input has no letter that may change: what protects it."""
    if prompt.bounds is not None:
        return "nothing to mutate: everything in the input is protected, or the input holds only numbers."
    slots = list(
        dict.fromkeys(prompt.text[each.start : each.end] for each in prompt.spans if each.kind == "slot")
    )
    if slots and all(each.kind in {"slot", "separator"} for each in prompt.spans):
        what = f"the slot {slots[0]}" if len(slots) == 1 else f"the slots {', '.join(slots)}"
        values = "its value" if len(slots) == 1 else "their values"
        return f"nothing to mutate: the prompt holds only {what}. Write part='input' to mutate {values}."
    note = f"nothing to mutate: everything in the prompt is protected{_protecting(prompt)}."
    if prompt.is_chat:
        return note
    if _FILE.fullmatch(prompt.text):
        note += f" If {prompt.text!r} is a file, give Path({prompt.text!r})."
    elif _CHAT.match(prompt.text.lstrip()):
        note += " If these are chat messages, give them as a list, or write valid JSON into a .json file."
    return note


def _protecting(prompt: Prompt) -> str:
    spans = [each for each in prompt.spans if each.kind != "separator"]
    shown = [
        f"{quoted(prompt.text[start:end], _MOST_SHOWN)} as {kind}" for start, end, kind in spans[:_MOST_NAMED]
    ]
    rest = len(spans) - len(shown)
    return f" ({', '.join(shown)}{f', and {rest} more' if rest else ''})" if shown else ""


_PATIENCE = 30  # proposals in a row that repeat what is there, before an operator counts as used up


class Plan(NamedTuple):
    """The mutations of one prompt.

    Attributes:
        mutations: Distinct, by stratum, in a stable order.
        requested: How many were asked for.
        notes: In prose: what gave way to what, and what is missing. Empty when the plan is as asked.
    """

    mutations: tuple[Mutation, ...]
    requested: int
    notes: tuple[str, ...] = ()

    @property
    def shortage(self) -> int:
        """How many mutations are missing."""
        return self.requested - len(self.mutations)


def plan(
    prompt: str | Prompt,
    n: Mutations = DEFAULT,
    *,
    seed: int = 0,
    operators: Selection | PlanRequest = None,
    part: str | Sequence[str] | None = None,
) -> Plan:
    """Plan distinct mutations of a prompt.

    The strata share ``n`` by largest remainder (40 % lexical, 30 % semantic, 30 % structural by default). Operators of
    a stratum take turns in a seeded order; one that yields nothing gives way to the others of its stratum, an empty
    stratum to others, but never to mutations of another relation: nothing stands in for a control. Unless it was named,
    no operator gives more than a quarter (rounded up), or than the fair share of a dimension that has fewer than four.
    Mutations differ from the prompt and from each other even after folding case and white space, except those of
    operators whose point these are, which differ exactly. The same prompt, seed and operators give the same plan
    everywhere.

    Args:
        prompt: What is changed; protected parts stay.
        n: How many, 1 to 10,000; or a mapping of dimensions or operators to counts (ints) or weights (floats, which
            share 8); or a list of operators and ready mutations, one each. Ready ones come first.
        seed: Any int.
        operators: What a count draws on: see :func:`pytest_promptfuzz.mutations.engine.selection.strata_of`.
        part: Which text may change, see :meth:`pytest_promptfuzz.prompts.prompt.Prompt.limited`; None leaves it to the
            prompt.

    Returns:
        The plan; ``notes`` states any shortage, which may be total.

    Raises:
        UsageError: A bad argument, a user's operator that damages protected text, or a ready mutation of another
            prompt.
    """
    want = wanted(n, operators)
    if type(seed) is not int:
        raise UsageError(f"seed={seed!r}: give an int.")
    if not isinstance(prompt, str | Prompt):
        raise UsageError(
            f"prompt is {type(prompt).__name__}; give a str or a Prompt (Prompt.from_messages for chat)."
        )
    whole = as_prompt(prompt) if part is None else as_prompt(prompt).limited(part)
    filler = _Filler(whole, want, seed, source=whole if isinstance(prompt, Prompt) else None)
    if want.strata and not any(map(str.isalpha, filler.draft.free)):
        # White space around a slot could still be changed, but that would test nothing of the prompt's.
        return Plan(filler.ready, want.n, (nothing_free(whole),))
    return filler.fill()


def mutate(
    prompt: str | Prompt,
    n: Mutations = DEFAULT,
    *,
    seed: int = 0,
    operators: Selection | PlanRequest = None,
    part: str | Sequence[str] | None = None,
) -> list[Mutation]:
    """Distinct mutations of a prompt; :func:`plan` describes the arguments, and how they are chosen.

    Raises:
        UsageError: A bad argument, or a prompt that cannot be changed at all.

    Warns:
        PromptfuzzWarning: There are fewer than were asked for.
    """
    made = plan(prompt, n, seed=seed, operators=operators, part=part)
    if not made.mutations:
        raise UsageError(" ".join(made.notes))
    if made.shortage:
        warnings.warn(" ".join(made.notes), PromptfuzzWarning, stacklevel=2)
    return list(made.mutations)


def _within(edits: tuple[Edit, ...], bounds: tuple[tuple[int, int], ...]) -> tuple[Edit, ...]:
    """The edits that lie within one of the bounds each."""
    return tuple(
        each for each in edits if any(start <= each.start and each.end <= end for start, end in bounds)
    )


def _laid_out(text: str) -> str:
    """A text without white space that most prompts lack, so that a change of it alone draws the same mutations.

    That is: common indentation, spaces at ends of lines, several blank lines in a row, white space around the text.
    """
    if "  " not in text and "\n\n\n" not in text and text.strip() == text and " \n" not in text:
        return text
    lines = [line.rstrip() for line in dedent(text).strip().split("\n")]
    return "\n".join(line for line, before in zip(lines, ["x", *lines], strict=False) if line or before)


class _Source:
    """One operator's proposals for one prompt, and how many of them may still be used."""

    __slots__ = ("left", "operator", "proposals")

    def __init__(self, operator: Operator, proposals: Iterator[tuple[Edit, ...]], left: int) -> None:
        self.operator = operator
        self.proposals = proposals
        self.left = left


class _Pool:
    """The operators of one stratum: those not yet tried, and those whose turn comes again."""

    __slots__ = ("cap", "fresh", "turn")

    def __init__(self, stratum: Stratum, cap: int) -> None:
        self.fresh = list(stratum.operators)
        self.turn: deque[_Source] = deque()
        self.cap = cap

    def __bool__(self) -> bool:
        return bool(self.fresh or self.turn)


class _Filler:
    """Fills the strata of one plan."""

    def __init__(self, prompt: Prompt, want: PlanRequest, seed: int, *, source: Prompt | None) -> None:
        text = prompt.text
        self.want = want
        self.n = want.n
        self.source = source
        self.root = root_key(seed, _laid_out(text))
        self.rng = Rng(self.root, "plan")
        self.draft = draft_of(prompt)
        self.bounds = prompt.bounds
        self.exact = {text}
        self.folded = {fold(text)}
        self.ready = tuple(self._taken_over(each) for each in want.ready)

    def _taken_over(self, mutation: Mutation) -> Mutation:
        """A ready mutation, when it is one of this prompt and differs from what is there."""
        original = self.draft.text
        where = f"mutations: the ready mutation {mutation.id}"
        if mutation.original != original:
            raise UsageError(
                f"{where} changes another prompt ({quoted(mutation.original)}); make it of {quoted(original)}."
            )
        check_edits(mutation.edits, len(original), source=where)
        if mutation.text in self.exact:
            what = "leaves the prompt as it is" if mutation.text == original else "is given twice"
            raise UsageError(f"{where} {what}; leave it out.")
        self.exact.add(mutation.text)
        self.folded.add(fold(mutation.text))
        return replace(mutation, source=self.source)

    def fill(self) -> Plan:
        strata = self.want.strata
        missing = self.n - len(self.ready)
        quotas = largest_remainder(missing, tuple(each.weight for each in strata)) if strata else ()
        pools = [_Pool(each, self._cap(each, quota)) for each, quota in zip(strata, quotas, strict=True)]
        taken = [self._take(pool, quota) for pool, quota in zip(pools, quotas, strict=True)]
        got = [len(each) for each in taken]
        short = [quota - now for quota, now in zip(quotas, got, strict=True)]
        if not any(short):
            return self._plan(taken)
        self._stand_in(pools, taken, short)
        parts = [
            FilledStratum(stratum, quota, own, len(all_) - own, lacking)
            for stratum, quota, own, all_, lacking in zip(strata, quotas, got, taken, short, strict=True)
        ]
        return self._plan(taken, self._notes(parts))

    def _notes(self, parts: Sequence[FilledStratum]) -> Iterator[str]:
        asked = self.want.strata is not strata_of(None)
        return notes_of(parts, ready=len(self.ready), draft=self.draft, asked=asked)

    def _plan(self, taken: Sequence[Sequence[Mutation]], notes: Iterable[str] = ()) -> Plan:
        return Plan((*self.ready, *(each for part in taken for each in part)), self.n, tuple(notes))

    def _stand_in(self, pools: Sequence[_Pool], taken: Sequence[list[Mutation]], short: list[int]) -> None:
        """Fill what is ``short`` in some strata from others, in turn, as long as no other relation comes in.

        A control that is missing is never made up for by a harmless change, nor a format by a typo: such a plan would
        look complete and prove something else.
        """
        strata = self.want.strata
        alive = [bool(pool) for pool in pools]
        going = True
        while going:
            going = False
            for index, pool in enumerate(pools):
                gap = next(
                    (
                        place
                        for place, lacking in enumerate(short)
                        if lacking and strata[index].relations <= strata[place].relations
                    ),
                    None,
                )
                if gap is None or not alive[index]:
                    continue
                found = self._take(pool, 1)
                alive[index] = bool(found)
                if found:
                    taken[index].extend(found)
                    short[gap] -= 1
                    going = True

    def _cap(self, stratum: Stratum, quota: int) -> int:
        """How many mutations an operator of the stratum may give."""
        if not stratum.capped:
            return self.n
        # A dimension of fewer than four operators could not fill its part otherwise.
        return max(-(-self.n // 4), -(-quota // (len(stratum.operators) or 1)))

    def _take(self, pool: _Pool, count: int) -> list[Mutation]:
        """Up to ``count`` mutations, the operators taking turns; used-up ones leave the pool.

        Operators come in a random order, drawn only as far as the plan needs.
        """
        taken: list[Mutation] = []
        fresh, turn = pool.fresh, pool.turn
        while len(taken) < count:
            if fresh:
                drawn = self.rng.below(len(fresh))
                operator = fresh[drawn]
                last = fresh.pop()
                if last is not operator:
                    fresh[drawn] = last
                if not operator.suits(self.draft):
                    continue
                rng = Rng(self.root, operator.id, intensity=operator.intensity)
                source = _Source(operator, operator.fitting(self.draft, rng), pool.cap)
            elif turn:
                source = turn.popleft()
            else:
                break
            mutation = self._next(source)
            if mutation is not None:
                taken.append(mutation)
                source.left -= 1
                if source.left:
                    turn.append(source)
        return taken

    def _next(self, source: _Source) -> Mutation | None:
        """The operator's next proposal that repeats nothing."""
        original = self.draft.text
        exact = self.exact
        surface, tokens = source.operator.surface, self.draft.tokens
        patience = _PATIENCE
        for proposed in source.proposals:
            edits = proposed if self.bounds is None else _within(proposed, self.bounds)
            text = apply_edits(original, edits)
            if text not in exact:
                rate = touched_words(edits, tokens) / (len(tokens) or 1)
                folded = "" if surface else fold(text)
                if surface or folded not in self.folded:
                    exact.add(text)
                    if not surface:
                        self.folded.add(folded)
                    return self._mutation(source.operator, edits, text, rate)
            patience -= 1
            if not patience:
                break
        return None

    def _mutation(self, operator: Operator, edits: tuple[Edit, ...], text: str, rate: float) -> Mutation:
        made = Mutation(
            self.draft.text,
            edits,
            operator.ids,
            operator.dimension,
            severity_of(operator.severity, rate),
            operator.preserves,
            operator.relation,
            self.source,
        )
        object.__setattr__(made, "text", text)  # known already; frozen for everyone else
        return made
