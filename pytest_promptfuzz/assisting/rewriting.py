"""Proposals from a model's rewordings: asked for, read, checked, tried again, and given up with a warning."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_promptfuzz.assisting.alignment import edits_between
from pytest_promptfuzz.assisting.checks import check_rewording
from pytest_promptfuzz.assisting.marks import RejectedAnswerError, marked
from pytest_promptfuzz.assisting.replies import reworded
from pytest_promptfuzz.errors import PromptfuzzWarning, TargetError, UsageError, unstopped
from pytest_promptfuzz.mutations.casing import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.assisting.asking import Helper
    from pytest_promptfuzz.assisting.marks import Marked, Part
    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.wire.watch import Watch

LONGEST = 20_000
"""Characters of a text or message up to which a model is asked to reword it."""

_SERIES = 1 << 20


class Way(Protocol):
    """A way to have a stretch of a prompt reworded by a model."""

    @property
    def language(self) -> str | None:
        """The language the result is in, if not the prompt's."""

    def acts_on(self, stretch: Marked) -> bool:
        """Whether there is any sense in asking."""

    def answer(self, helper: Helper, stretch: Marked, watch: Watch, had: Sequence[str], problem: str) -> str:
        """The model's answer, as it gives it; ``had`` and ``problem`` as in ``instructions``."""


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Proposes what a model makes of a prompt.

    Attributes:
        name: The operator's, for messages.
        helper: Who is asked.
        way: What is asked.
        attempts: How often for one mutation.
        whole: Whether a mutation rewrites all messages of a chat, data included, rather than one message but its data.
    """

    name: str
    helper: Helper
    way: Way
    attempts: int
    whole: bool = False

    def __call__(self, draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        """Mutations of a prompt, each differing from those before, until the model gives no valid one.

        Raises:
            UsageError: An intensity is set, and there is no such thing here.
        """
        if rng.unheeded:
            raise UsageError(f"operator {self.name!r} has no intensity: a model rewords a prompt as a whole.")
        # A translation is of the whole prompt; a rewording leaves the data that the prompt is about alone.
        stretches = [each for each in marked(draft, data=self.whole) if self.way.acts_on(each)]
        if not stretches:
            return
        watch = self.helper.watch(rng.below(_SERIES))
        rounds = [_Series(self, each, watch) for each in stretches]
        if self.whole:
            while True:
                found = [each.next() for each in rounds]
                if any(edits is None for edits in found):
                    return
                yield sorted(edit for edits in found if edits for edit in edits)
        while rounds:
            for each in list(rounds):
                edits = each.next()
                if edits is None:
                    rounds.remove(each)
                else:
                    yield edits


class _Series:
    """The rewordings of one stretch, one after the other."""

    def __init__(self, rewriter: Rewriter, stretch: Marked, watch: Watch) -> None:
        self.rewriter = rewriter
        self.stretch = stretch
        self.watch = watch
        self.folded: set[str] = set()
        self.had: list[str] = []

    def next(self) -> list[Edit] | None:
        """The edits of another rewording; ``None``, and a warning, where none is to be had."""
        rewriter, stretch = self.rewriter, self.stretch
        if len(stretch.original) > LONGEST:
            self._give_up(
                f"it has {len(stretch.original):,} characters, and a model is asked for up to {LONGEST:,}"
            )
            return None
        problem = ""
        problems: list[str] = []
        for _ in range(rewriter.attempts):
            try:
                answer = rewriter.way.answer(rewriter.helper, stretch, self.watch, self.had, problem)
                parts = stretch.read(reworded(answer, stretch.original))
                check_rewording(stretch, parts, given=self.folded, translated_to=rewriter.way.language)
            except RejectedAnswerError as error:
                problem = str(error)
                problems.append(problem)
                continue
            except TargetError as error:
                self._give_up(str(error))
                return None
            return self._accepted(parts)
        told = "; ".join(dict.fromkeys(problems))
        self._give_up(f"none of its {len(problems)} answers could be used: {told}")
        return None

    def _accepted(self, parts: Sequence[Part]) -> list[Edit]:
        text = self.stretch.render(parts)
        self.folded.add(fold(text))
        self.had.append(self.stretch.mark(parts))
        return edits_between(self.stretch, parts)

    def _give_up(self, why: str) -> None:
        shown = " ".join(self.stretch.original.split())
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        warnings.warn(
            f"{self.rewriter.name}: {self.rewriter.helper.name} gave no"
            f"{' other' if self.had else ''} version of the prompt {shown!r}: {unstopped(why)}."
            " Other operators take its place.",
            PromptfuzzWarning,
            stacklevel=4,
        )
