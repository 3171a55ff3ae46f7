"""Which run of a test a watch sees."""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDER, JUDGE, SHRINKING = "embedder", "judge", "shrinking"
BESIDE = {EMBEDDER: "the embedder", JUDGE: "the judge", SHRINKING: "the search for a smaller change"}
"""What stands in the place of a trial's ID in what no plan names, and what it is called."""


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a test: a sample of its baseline, or a trial.

    Attributes:
        case: Which example or input of the test, from 0.
        trial: The trial's ID; empty in a baseline; one of ``BESIDE`` for what is no trial of a plan.
        operators: Of the trial's mutation, for messages.
        unscored: Whether it is a control that the test does not name.
    """

    case: int = 0
    trial: str = ""
    operators: tuple[str, ...] = ()
    unscored: bool = False

    @property
    def spare(self) -> bool:
        """Whether the verdict does without it: that it has no answer leaves no gap in a recording."""
        return self.trial == SHRINKING or self.unscored

    def shown(self, repeat: int) -> str:
        """As people call it: ``the baseline``, ``trial 7e589339239b (typo@1)``."""
        if self.trial in BESIDE:
            return BESIDE[self.trial]
        if self.trial:
            again = f", asked again ({repeat})" if repeat else ""
            return f"trial {self.trial} ({', '.join(self.operators)}){again}"
        return f"sample {repeat} of the baseline" if repeat else "the baseline"
