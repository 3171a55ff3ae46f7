"""Effects of a task's factorial operators, from all of their combinations or a fraction, with what is aliased."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.factorial import GENERATORS, MOST_FACTORS, TwoLevel, two_level
from pytest_promptfuzz.stats.variance import mean_test
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    grouped,
    mean_over_inputs,
    put_adjusted,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_promptfuzz.mutations.engine.factorial import Term
    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


_MOST_NAMED = 2  # aliases of an effect


class FactorEffect(NamedTuple):
    """An effect that a design tells from all others, or the sum of several that it does not tell apart.

    Attributes:
        term: The factors whose levels are multiplied; one for a factor's own effect.
        aliases: Of up to two factors, those that are part of the same figure.
        further: The shortest other aliases, where no alias has two factors or fewer.
    """

    term: Term
    aliases: tuple[Term, ...] = ()
    further: tuple[Term, ...] = ()

    @property
    def name(self) -> str:
        """How a table calls it: an interaction that is not told from another one is named with it."""
        terms = (self.term,) if len(self.term) == 1 else (self.term, *self.aliases)
        return " = ".join(map(_shown, terms))

    @property
    def aliased_with(self) -> str:
        """What else the figure may be, for a table."""
        others = (self.aliases if len(self.term) == 1 else ()) or self.further
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        return ", ".join(map(_shown, others[:_MOST_NAMED])) + more


def _shown(term: Term) -> str:
    return " × ".join(term)


class FactorDesign:
    """The combinations of some operators that a task was asked with.

    Args:
        layout: Their runs.
    """

    def __init__(self, layout: TwoLevel) -> None:
        self.layout = layout

    @cached_property
    def runs(self) -> list[frozenset[str]]:
        """What is changed in each run."""
        return [
            frozenset(name for name, sign in zip(self.layout.factors, row, strict=True) if sign > 0)
            for row in self.layout.signs
        ]

    def means(self, answers: Iterable[tuple[Hashable, str, float]]) -> list[list[float]]:
        """For each input that has answers of all runs, their means.

        Args:
            answers: Input, operator and figure of each.
        """
        places = {run: number for number, run in enumerate(self.runs)}
        found: dict[Hashable, list[list[float]]] = defaultdict(lambda: [[] for _ in self.runs])
        for given, operator, figure in answers:
            place = places.get(parts_of(operator))
            if place is not None:
                found[given][place].append(figure)
        return [[sum(run) / len(run) for run in runs] for runs in found.values() if all(runs)]

    def effects(self) -> list[FactorEffect]:
        """Every effect of one factor, then of two together; those that are one figure stand there once."""
        terms = [term for order in (1, 2) for term in combinations(self.layout.factors, order)]
        found: list[FactorEffect] = []
        seen: set[Term] = set()
        for term in terms:
            if term in seen:
                continue
            aliases = self.layout.aliases(term)
            pairs = tuple(each for each in aliases if len(each) <= 2)
            least = min(map(len, aliases), default=0)
            further = () if pairs else tuple(each for each in aliases if len(each) == least)
            found.append(FactorEffect(term, pairs, further))
            seen |= {term, *pairs}
        return found


def parts_of(operator: str) -> frozenset[str]:
    """The operators that are put together in one; none for the unmutated prompt."""
    return frozenset(operator.split("+")) if operator else frozenset()


def design_in(operators: Iterable[str]) -> FactorDesign | None:
    """The factorial design that a task was asked with: the largest one, in full or as a fraction.

    Args:
        operators: As its cells have them; empty for the unmutated prompt.
    """
    names = list(dict.fromkeys(operators))
    asked = {parts_of(each) for each in names}
    for longest in sorted(names, key=lambda each: (-len(parts_of(each)), sorted(parts_of(each)))):
        factors = list(dict.fromkeys(longest.split("+")))
        if not 2 <= len(factors) <= MOST_FACTORS:
            continue
        for halvings in range(len(factors)):
            if halvings and (len(factors), halvings) not in GENERATORS:
                continue
            design = FactorDesign(two_level(factors, Fraction(1, 2**halvings)))
            if asked.issuperset(design.runs):
                return design
    return None


def fraction_note(design: FactorDesign) -> str:
    """What a reader must know of a fraction; empty for all combinations."""
    resolution = design.layout.resolution
    if resolution is None:
        return ""
    numeral = {3: "III", 4: "IV", 5: "V", 6: "VI", 7: "VII", 8: "VIII"}[resolution]
    return (
        f" {len(design.runs)} of {2 ** len(design.layout.factors)} combinations were asked (resolution {numeral}): "
        "each figure is the sum of its effect and of those that it is aliased with."
    )


def factors(cells: Sequence[Cell]) -> StudyTable:
    """Factor, then model: what it does to gold accuracy, alone and with one other; what it is not told apart from.

    Raises:
        UsageError: No task was asked with a factorial design.
    """
    rows: list[tuple[str, list[Entry]]] = []
    tested: dict[int, float] = {}
    notes: list[str] = []
    models, tasks = (values_of(getattr(each, name) for each in cells) for name in ("model", "task"))
    for task, of_task in grouped(cells, "task"):
        design = design_in(each.operator for each in of_task)
        if design is None:
            continue
        notes.append(fraction_note(design))
        for model, own in grouped(of_task, "model"):
            answers = [(each.input, each.operator, float(each.gold)) for each in own if each.gold is not None]
            inputs = design.means(answers)
            for effect in design.effects():
                figures = [design.layout.effect(effect.term, each) for each in inputs]
                if len(figures) > 1:
                    tested[len(rows)] = mean_test(figures)
                where = [model] * (len(models) > 1) + [task] * (len(tasks) > 1)
                entries: list[Entry] = [mean_over_inputs(figures, low=-1.0), None, effect.aliased_with]
                rows.append((", ".join([effect.name, *where]), entries))
    if not rows:
        raise UsageError(f"table 'factors' needs {FACTORIAL}.")
    put_adjusted(rows, 1, tested)
    return StudyTable(
        "Effects of factors on gold accuracy",
        "factor",
        (
            TableColumn("effect", unit="points"),
            TableColumn("p", unit="", digits=4),
            TableColumn("aliased with", unit="text"),
        ),
        tuple((name, tuple(entries)) for name, entries in rows),
        "Effect: mean accuracy with the change less without it; of two, half of what one does to the other's effect. "
        "95 % interval and p by t over inputs that have all answers, p adjusted for all rows (Holm)."
        + "".join(dict.fromkeys(notes)),
    )


FACTORIAL = 'a factorial study: factorial = ["casual", "text-first"] in [[task]]'
"""What tables of factors need."""
