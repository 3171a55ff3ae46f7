"""How often an entailment model errs on pairs of claims that come with the package: ``promptfuzz model check``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from pytest_promptfuzz.embedding.entailment import SURE_AT, Verdict, nine_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.embedding.entailment import Case, Entailment, Label

_FILE: Final = "entailment_pairs.tsv"


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """Two claims, and what follows from what.

    Attributes:
        kind: What the pair tests: ``numbers``, ``negation``, ``roles``, ``quantifiers``, ``paraphrase``, ``modality``
            or ``dates``.
        forward: Whether the second follows from the first.
        backward: Whether the first follows from the second.
        first: A claim.
        second: Another.
    """

    kind: str
    forward: Label
    backward: Label
    first: str
    second: str

    @property
    def case(self) -> Case:
        """What both directions say together."""
        return nine_cases(_certain(self.forward), _certain(self.backward))


@dataclass(frozen=True, slots=True)
class KindErrors:
    """What a model made of the pairs of one kind.

    Attributes:
        kind: The kind, or ``all``.
        pairs: How many there are; each has two directions.
        wrong_directions: Directions with another label than the right one.
        different: Pairs that do not say the same.
        passed: Of those, how many the model calls equivalent.
        same: Pairs that say the same.
        condemned: Of those, how many the model calls a deviation.
        undecided: Pairs that are left undecided and should not be.
    """

    kind: str
    pairs: int
    wrong_directions: int
    different: int
    passed: int
    same: int
    condemned: int
    undecided: int


def claim_pairs() -> list[ClaimPair]:
    """The pairs of the package."""
    text = files("pytest_promptfuzz.embedding").joinpath("data").joinpath(_FILE).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [
        ClaimPair(kind, cast("Label", forward), cast("Label", backward), first, second)
        for kind, forward, backward, first, second in rows
    ]


def check_entailment(entailment: Entailment, *, sure_at: float = SURE_AT) -> list[KindErrors]:
    """Ask a model about every pair, both ways.

    Args:
        entailment: The model.
        sure_at: The probability below which a direction counts as neutral.

    Returns:
        Its errors by kind, in the order of the file, and those of all kinds at the end.

    Raises:
        ConfigurationError: The model cannot be loaded, or what it says is no verdict.
    """
    pairs = claim_pairs()
    asked = [(each.first, each.second) for each in pairs] + [(each.second, each.first) for each in pairs]
    said = entailment.scores(asked)
    answers = list(zip(pairs, said[: len(pairs)], said[len(pairs) :], strict=True))
    kinds = dict.fromkeys(each.kind for each in pairs)
    found = [_errors(kind, [each for each in answers if each[0].kind == kind], sure_at) for kind in kinds]
    return [*found, _errors("all", answers, sure_at)]


def _errors(kind: str, answers: Sequence[tuple[ClaimPair, Verdict, Verdict]], sure_at: float) -> KindErrors:
    cases = [(pair.case, nine_cases(one, two, sure_at=sure_at)) for pair, one, two in answers]
    different = [said for right, said in cases if right != "equivalent"]
    same = [said for right, said in cases if right == "equivalent"]
    return KindErrors(
        kind,
        pairs=len(answers),
        wrong_directions=sum(
            (one.label(sure_at) != pair.forward) + (two.label(sure_at) != pair.backward)
            for pair, one, two in answers
        ),
        different=len(different),
        passed=different.count("equivalent"),
        same=len(same),
        condemned=same.count("deviation"),
        undecided=sum(said == "undecided" != right for right, said in cases),
    )


def _certain(label: Label) -> Verdict:
    return Verdict(float(label == "entailment"), float(label == "neutral"), float(label == "contradiction"))
