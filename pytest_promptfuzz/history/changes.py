"""What a comparison of two runs comes to, and earlier runs, as plain data: reports hold it and compute nothing."""

from __future__ import annotations

from typing import Literal, TypedDict

Status = Literal["worse", "lower", "same", "higher", "better", "unpaired", "new", "gone"]
"""How a test compares with its base. ``worse`` and ``better`` are more than noise, ``lower`` and ``higher`` within it,
or alike but for the verdict; ``unpaired`` has no trial in common that was decided; ``new`` and ``gone`` stand in one of
the runs only."""


class BaseReport(TypedDict):
    """What was compared with: ``label`` as a person named it, ``kind`` of ``last``, ``name``, ``file`` and ``ref``.

    ``run``, ``started``, ``commit`` and ``branch`` are of the run; empty where its tests come from several.
    """

    label: str
    kind: str
    run: str
    started: str
    commit: str
    branch: str


class ChangeReport(TypedDict):
    """One test beside its base.

    ``pairs`` trials were decided in both runs: in ``worse`` the outcome is worse now, in ``better`` better. ``p`` is
    the probability of such a difference, or a larger one, from noise alone, and ``adjusted_p`` the same among all tests
    that are compared; ``None`` where nothing can be told. ``new_deviations`` and ``mended`` are IDs of trials.
    ``baseline`` says whether the answer to the unmutated prompt is the same: ``same``, ``changed`` or ``unknown``.
    ``target`` is what was asked, of one that is gone in the base.
    """

    test: str
    target: str
    status: Status
    verdict_before: str
    verdict: str
    score_before: float | None
    score: float | None
    difference: float | None
    pairs: int
    worse: int
    better: int
    p: float | None
    adjusted_p: float | None
    new_deviations: list[str]
    mended: list[str]
    prompt_changed: bool
    baseline: str
    model_before: str
    model: str
    cost_before: float | None
    cost: float | None
    explanation: str


class ConditionReport(TypedDict):
    """One condition of ``--promptfuzz-fail-on``, and the tests that meet it."""

    expression: str
    tests: list[str]


class ChangesReport(TypedDict):
    """A run beside its base, the tests that changed most first."""

    base: BaseReport
    tests: list[ChangeReport]
    conditions: list[ConditionReport]


class PastRunReport(TypedDict):
    """An earlier run, in a trend."""

    id: str
    name: str
    started: str
    commit: str
    branch: str
    dirty: bool | None


class PointReport(TypedDict):
    """A test in an earlier run; ``run`` is a place in the list of runs."""

    run: int
    score: float | None
    verdict: str
    cost: float | None


class TrendsReport(TypedDict):
    """Earlier runs, the oldest first, and each test's results in them."""

    runs: list[PastRunReport]
    tests: dict[str, list[PointReport]]
