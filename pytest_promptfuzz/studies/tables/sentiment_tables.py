"""Tables of the sentiment study: polarity accuracy, consistency, weighted index, errors, factors, the winner."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.reading.final_answers import final_answer
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.variance import mean_test
from pytest_promptfuzz.studies.cells import AGAIN, NOT_APPLICABLE
from pytest_promptfuzz.studies.tables.factor_tables import FACTORIAL, design_in, fraction_note, parts_of
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    grouped,
    mean_figure,
    mean_over_inputs,
    over_runs,
    put_adjusted,
    values_of,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


ENCODING = {"very negative": -3, "negative": -2, "neutral": 0, "positive": 2, "very positive": 3}
"""Labels by polarity: a wrong sign costs more than a wrong degree."""
WORST = 36
"""The penalty of very negative for very positive, and of an answer that names no label."""
ACCURACY_WEIGHT, CONSISTENCY_WEIGHT = 0.7, 0.3
UNMUTATED = "(unmutated)"
_LABEL = expression(r"\b(?:very[ _-])?(?:negative|positive)\b|\bneutral\b")
_KINDS = {
    0: "right",
    1: "degree (1)",
    4: "to or from neutral (4)",
    9: "very, to or from neutral (9)",
    16: "polarity (16)",
    25: "polarity, one very (25)",
    36: "opposite extreme (36)",
}


@lru_cache(maxsize=4096)  # a study asks for few labels, in many cells
def label_in(answer: str) -> str | None:
    """The sentiment that an answer names; ``None`` where it names none, or several.

    >>> label_in("Very positive!"), label_in("It is positive or negative."), label_in("Fine.")
    ('very positive', None, None)
    """
    for text in (answer, final_answer(answer) or ""):
        found = {each.group().replace("_", " ").replace("-", " ") for each in _LABEL.finditer(text.lower())}
        if len(found) == 1:
            return found.pop()
    return None


def penalty(expected: str, label: str | None) -> int:
    """The squared difference of two labels' encodings, 0 to 36; 36 where an answer names no label.

    >>> penalty("negative", "very negative"), penalty("neutral", "positive"), penalty("positive", None)
    (1, 4, 36)
    """
    return WORST if label is None else (ENCODING[expected] - ENCODING[label]) ** 2


class _Rated(NamedTuple):
    """An answer with its label and what it costs; ``variant`` is which wording was asked."""

    input: tuple[str, str]
    run: int
    variant: str
    label: str | None
    penalty: int

    @property
    def accuracy(self) -> float:
        """1 - penalty / 36, 0 to 1."""
        return 1 - self.penalty / WORST


def _rated(cells: Iterable[Cell]) -> list[_Rated]:
    """The answers to inputs whose expected label is known."""
    found = []
    for cell in cells:
        expected = cell.grades.expected.strip().lower()
        if expected in ENCODING and cell.outcome not in {"error", NOT_APPLICABLE} and cell.operator != AGAIN:
            label = label_in(cell.answer)
            variant = cell.operator or UNMUTATED
            found.append(_Rated((cell.task, cell.input), cell.run, variant, label, penalty(expected, label)))
    return found


@dataclass(frozen=True)
class _Model:
    """The answers of one model."""

    answers: Sequence[_Rated]

    @property
    def accuracy(self) -> TableFigure | None:
        """Polarity accuracy, 1 - MSE/36, over runs."""
        return over_runs((each.run, each.accuracy) for each in self.answers)

    @cached_property
    def consistencies(self) -> list[tuple[int, float]]:
        """By run, of each input: the share of its variants that have the label of most; none is no label."""
        labels: dict[tuple[int, tuple[str, str]], list[str | None]] = defaultdict(list)
        for each in self.answers:
            labels[each.run, each.input].append(each.label)
        return [(run, _majority(found)) for (run, _), found in labels.items()]

    @property
    def consistency(self) -> TableFigure | None:
        """The mean over inputs, over runs."""
        return over_runs(self.consistencies)

    def of(self, variant: str) -> _Model:
        """The answers to one wording."""
        return _Model([each for each in self.answers if each.variant == variant])

    def within(self, inputs: set[tuple[str, str]]) -> _Model:
        """The answers to some inputs."""
        return _Model([each for each in self.answers if each.input in inputs])

    @property
    def variants(self) -> list[str]:
        """The wordings, the unmutated prompt among them."""
        return values_of(each.variant for each in self.answers)

    def index(self, accuracy: TableFigure | None) -> TableFigure | None:
        """The weighted index of an accuracy with the model's consistency, over runs by their means."""
        consistency = self.consistency
        if accuracy is None or consistency is None:
            return None
        return TableFigure(ACCURACY_WEIGHT * accuracy.value + CONSISTENCY_WEIGHT * consistency.value)

    @cached_property
    def runs(self) -> list[_Model]:
        """The answers of each run."""
        runs: dict[int, list[_Rated]] = defaultdict(list)
        for each in self.answers:
            runs[each.run].append(each)
        return [_Model(own) for _, own in sorted(runs.items())]

    def over_runs_index(self, variant: str | None = None) -> TableFigure | None:
        """The weighted index of each run, of all wordings or of one with the consistency of all: mean ± std."""
        indices = [own.index((own if variant is None else own.of(variant)).accuracy) for own in self.runs]
        return mean_figure([each for each in indices if each is not None])


def _majority(labels: Sequence[str | None]) -> float:
    counts = Counter(each for each in labels if each is not None)
    return max(counts.values(), default=0) / len(labels)


def _models(cells: Sequence[Cell]) -> list[tuple[str, _Model]]:
    """The models with an answer.

    Raises:
        UsageError: No input has an expected label.
    """
    found = [(name, _Model(rated)) for name, own in grouped(cells, "model") if (rated := _rated(own))]
    if not found:
        raise UsageError(f"tables of sentiment need expected answers among {', '.join(ENCODING)}.")
    return found


def sentiment(cells: Sequence[Cell]) -> StudyTable:
    """Model: polarity accuracy, consistency over wordings, weighted index, answers without a label."""
    return StudyTable(
        "Sentiment by model",
        "model",
        (
            TableColumn("polarity accuracy", best="high"),
            TableColumn("consistency", best="high"),
            TableColumn("weighted index", best="high"),
            TableColumn("no label", best="low"),
        ),
        tuple(
            (
                name,
                (
                    model.accuracy,
                    model.consistency,
                    model.over_runs_index(),
                    over_runs((each.run, float(each.label is None)) for each in model.answers),
                ),
            )
            for name, model in _models(cells)
        ),
        "Polarity accuracy: 1 - MSE/36 of labels encoded as -3, -2, 0, 2, 3; an answer without a label costs 36. "
        "Consistency: the mean share of an input's wordings that have its most frequent label. Index: 0.7 accuracy + "
        "0.3 consistency.",
    )


def sentiment_variants(cells: Sequence[Cell]) -> StudyTable:
    """Wording × model: the weighted index of its accuracy and the model's consistency."""
    models = _models(cells)
    variants = values_of(each for _, model in models for each in model.variants)
    return StudyTable(
        "Weighted index by wording and model",
        "operator",
        tuple(TableColumn(name, best="high") for name, _ in models),
        tuple((each, tuple(model.over_runs_index(each) for _, model in models)) for each in variants),
        "0.7 · polarity accuracy of the wording + 0.3 · consistency of the model over all wordings.",
    )


def sentiment_errors(cells: Sequence[Cell]) -> StudyTable:
    """Model: which share of answers is wrong in which way, by penalty."""
    models = _models(cells)
    seen = {each.penalty for _, model in models for each in model.answers if each.label is not None}
    kinds = [each for each in _KINDS if each in seen]
    return StudyTable(
        "Errors by model",
        "model",
        (*(TableColumn(_KINDS[each]) for each in kinds), TableColumn("no label (36)")),
        tuple(
            (
                name,
                (
                    *(
                        over_runs(
                            (e.run, float(e.label is not None and e.penalty == kind)) for e in model.answers
                        )
                        for kind in kinds
                    ),
                    over_runs((e.run, float(e.label is None)) for e in model.answers),
                ),
            )
            for name, model in models
        ),
        "Shares of answers by penalty, the squared difference of encoded labels.",
    )


def sentiment_factors(cells: Sequence[Cell]) -> StudyTable:
    """Factor and model: what a factor does to polarity accuracy, with p, and how often it leaves the label."""
    rows: list[tuple[str, list[Entry]]] = []
    tested: dict[int, float] = {}
    models = _models(cells)
    note = ""
    for name, model in models:
        design = design_in(map(_operator, model.variants))
        if design is None:
            continue
        note = fraction_note(design)
        inputs = design.means((each.input, _operator(each.variant), each.accuracy) for each in model.answers)
        for effect in design.effects()[: len(design.layout.factors)]:
            (factor,) = effect.term
            effects = [design.layout.effect(effect.term, each) for each in inputs]
            if len(effects) > 1:
                tested[len(rows)] = mean_test(effects)
            label = factor if len(models) == 1 else f"{factor}, {name}"
            aliased = [effect.aliased_with] if note else []
            figure = mean_over_inputs(effects, low=-1.0)
            rows.append((label, [figure, None, _kept(model, factor), *aliased]))
    if not rows:
        raise UsageError(f"table 'sentiment-factors' needs {FACTORIAL}.")
    put_adjusted(rows, 1, tested)
    return StudyTable(
        "Effects of factors on polarity accuracy",
        "factor",
        (
            TableColumn("effect", unit="points"),
            TableColumn("p", unit="", digits=4),
            TableColumn("same label", best="high"),
            *([TableColumn("aliased with", unit="text")] if note else []),
        ),
        tuple((name, tuple(entries)) for name, entries in rows),
        "Effect: mean accuracy with the change less without it, over all combinations of the others; 95 % interval "
        "and p by t over inputs, p adjusted for all rows (Holm). Same label: pairs of wordings that differ in this "
        f"factor alone.{note}",
    )


def factors_in(variants: Iterable[str]) -> list[str]:
    """Operators of which all combinations were asked, or a fraction, two or more; the largest set of them."""
    design = design_in(map(_operator, variants))
    return [] if design is None else list(design.layout.factors)


def _operator(variant: str) -> str:
    return "" if variant == UNMUTATED else variant


def _parts(variant: str) -> frozenset[str]:
    return parts_of(_operator(variant))


def _kept(model: _Model, factor: str) -> TableFigure | None:
    labels = {(each.run, each.input, _parts(each.variant)): each.label for each in model.answers}
    return over_runs(
        (run, float(label is not None and label == labels[run, given, parts - {factor}]))
        for (run, given, parts), label in labels.items()
        if factor in parts and (run, given, parts - {factor}) in labels
    )


def sentiment_winner(cells: Sequence[Cell]) -> StudyTable:
    """Model: the best wording on one half of the inputs, and what it is worth on the other half."""
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for name, model in _models(cells):
        choosing, scoring = halves({each.input for each in model.answers})
        one, two = model.within(choosing), model.within(scoring)
        if not scoring:
            raise UsageError(
                "table 'sentiment-winner' needs two inputs at least: one half chooses, the other scores."
            )
        winner = max(one.variants, key=lambda each: _index_value(one, each))
        chosen, plain = _accuracies(two.of(winner)), _accuracies(two.of(UNMUTATED))
        gain = [chosen[each] - plain[each] for each in chosen if each in plain]
        rows.append(
            (
                name,
                (
                    winner,
                    one.over_runs_index(winner),
                    two.over_runs_index(winner),
                    two.over_runs_index(UNMUTATED),
                    mean_over_inputs(gain, low=-1.0),
                    TableFigure(mean_test(gain)) if len(gain) > 1 else None,
                ),
            )
        )
    return StudyTable(
        "The best wording, chosen on one half of the inputs and scored on the other",
        "model",
        (
            TableColumn("winner", unit="text"),
            TableColumn("index, choosing half"),
            TableColumn("index, scoring half", best="high"),
            TableColumn("unmutated, scoring half"),
            TableColumn("accuracy gain", unit="points"),
            TableColumn("p", unit="", digits=4),
        ),
        tuple(rows),
        "The halves are drawn from the inputs' names, the same ones each time. Gain: of the winner over the unmutated "
        "prompt in polarity accuracy, on the scoring half.",
    )


def halves(inputs: Iterable[tuple[str, str]]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Two halves of inputs, drawn by a hash of their names; the first has one more of an odd number.

    An input that several tasks have stands in one half: what chooses has no part in what scores.
    """
    tasks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for each in inputs:
        tasks[each[1]].append(each)

    def place(name: str) -> str:
        return min(hashlib.sha256("\n".join(each).encode()).hexdigest() for each in tasks[name])

    order = sorted(tasks, key=place)
    one, two = ({each for name in half for each in tasks[name]} for half in (order[::2], order[1::2]))
    return one, two


def _index_value(model: _Model, variant: str) -> float:
    found = model.over_runs_index(variant)
    return -1.0 if found is None else found.value


def _accuracies(model: _Model) -> dict[tuple[str, str], float]:
    """The mean accuracy of each input's answers."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in model.answers:
        found[each.input].append(each.accuracy)
    return {given: sum(each) / len(each) for given, each in found.items()}


SENTIMENT_TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "sentiment": sentiment,
    "sentiment-variants": sentiment_variants,
    "sentiment-errors": sentiment_errors,
    "sentiment-factors": sentiment_factors,
    "sentiment-winner": sentiment_winner,
}
