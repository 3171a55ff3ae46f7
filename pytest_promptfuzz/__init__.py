"""Prompt regression testing for pytest: mutate the prompt, compare the answers, fail on brittleness.

Everything public is here and loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.moved import find_moved_modules

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.comparing.custom_checks import Guard, SimilarityTier, guard, tier
    from pytest_promptfuzz.comparing.formats.json_values import json_rouge, json_similarity
    from pytest_promptfuzz.comparing.guards.pair import Finding
    from pytest_promptfuzz.comparing.metrics import EntityScore, entity_f1
    from pytest_promptfuzz.comparing.profiles import Profile, profile_for
    from pytest_promptfuzz.errors import (
        ConfigurationError,
        PartError,
        PromptfuzzError,
        PromptfuzzWarning,
        StoreError,
        TargetError,
        UsageError,
    )
    from pytest_promptfuzz.evaluating.evaluate import aevaluate, evaluate
    from pytest_promptfuzz.evaluating.fluency import grammar_errors, perplexity
    from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
    from pytest_promptfuzz.evaluating.search import (
        asearch,
        atransfer,
        search,
        transfer,
    )
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.judging.compare import compare
    from pytest_promptfuzz.judging.model_judge import ModelJudge, judge
    from pytest_promptfuzz.judging.ratings import Grader, Judge, JudgedPair, Rating
    from pytest_promptfuzz.mutations.engine.edits import Edit
    from pytest_promptfuzz.mutations.engine.factorial import Design, factorial
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.mutations.engine.operator import Operator, operator
    from pytest_promptfuzz.mutations.engine.planner import mutate
    from pytest_promptfuzz.mutations.engine.registry import compose
    from pytest_promptfuzz.mutations.operators.additions import few_shot
    from pytest_promptfuzz.mutations.operators.controls import without_label
    from pytest_promptfuzz.mutations.operators.translation import cross_lingual, translations
    from pytest_promptfuzz.plugin.marks import robust
    from pytest_promptfuzz.plugin.output.outcome import BrittlePrompt, UntrustedVerdict
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.providers.requests import Request, Response, Target, ToolCall, Usage
    from pytest_promptfuzz.reporting.document import Document
    from pytest_promptfuzz.reporting.report_files import Reporter, read_document, reporter
    from pytest_promptfuzz.reporting.study_tables import study_table
    from pytest_promptfuzz.results.counterexamples import Counterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.searching.search_result import Metrics, Search, Transfer, search_metrics
    from pytest_promptfuzz.searching.shrinker import Smallest, shrink
    from pytest_promptfuzz.stats.significance import RankTest, mann_whitney
    from pytest_promptfuzz.stats.variance import (
        Effect,
        Variance,
        brittleness,
        effects_of,
        rank_stability,
        variance_of,
    )
    from pytest_promptfuzz.studies.cells import Cell, read_cells, write_cells
    from pytest_promptfuzz.studies.runner import study
    from pytest_promptfuzz.studies.study import Study, StudyModel, StudyTask, StudyTests, read_study

find_moved_modules()

_HOMES = {
    "BaselineFailed": "evaluating.phases.baseline",
    "BrittlePrompt": "plugin.output.outcome",
    "Cell": "studies.cells",
    "Comparison": "comparing.comparison",
    "ConfigurationError": "errors",
    "Counterexample": "results.counterexamples",
    "Design": "mutations.engine.factorial",
    "Document": "reporting.document",
    "Edit": "mutations.engine.edits",
    "Effect": "stats.variance",
    "EntityScore": "comparing.metrics",
    "Finding": "comparing.guards.pair",
    "Grader": "judging.ratings",
    "Guard": "comparing.custom_checks",
    "Judge": "judging.ratings",
    "JudgedPair": "judging.ratings",
    "Metrics": "searching.search_result",
    "ModelJudge": "judging.model_judge",
    "Mutation": "mutations.engine.mutation",
    "Operator": "mutations.engine.operator",
    "PartError": "errors",
    "Profile": "comparing.profiles",
    "Prompt": "prompts.prompt",
    "PromptfuzzError": "errors",
    "PromptfuzzWarning": "errors",
    "RankTest": "stats.significance",
    "Rating": "judging.ratings",
    "Reporter": "reporting.report_files",
    "Request": "providers.requests",
    "Response": "providers.requests",
    "Robustness": "results.robustness",
    "Search": "searching.search_result",
    "Session": "evaluating.session",
    "SimilarityTier": "comparing.custom_checks",
    "Smallest": "searching.shrinker",
    "StoreError": "errors",
    "Study": "studies.study",
    "StudyModel": "studies.study",
    "StudyTask": "studies.study",
    "StudyTests": "studies.study",
    "Target": "providers.requests",
    "TargetError": "errors",
    "ToolCall": "providers.requests",
    "Transfer": "searching.search_result",
    "Trial": "results.trials",
    "UntrustedVerdict": "plugin.output.outcome",
    "Usage": "providers.requests",
    "UsageError": "errors",
    "Variance": "stats.variance",
    "aevaluate": "evaluating.evaluate",
    "asearch": "evaluating.search",
    "atransfer": "evaluating.search",
    "brittleness": "stats.variance",
    "compare": "judging.compare",
    "compose": "mutations.engine.registry",
    "cross_lingual": "mutations.operators.translation",
    "effects_of": "stats.variance",
    "entity_f1": "comparing.metrics",
    "evaluate": "evaluating.evaluate",
    "factorial": "mutations.engine.factorial",
    "few_shot": "mutations.operators.additions",
    "grammar_errors": "evaluating.fluency",
    "guard": "comparing.custom_checks",
    "json_rouge": "comparing.formats.json_values",
    "json_similarity": "comparing.formats.json_values",
    "judge": "judging.model_judge",
    "mann_whitney": "stats.significance",
    "mutate": "mutations.engine.planner",
    "operator": "mutations.engine.operator",
    "perplexity": "evaluating.fluency",
    "profile_for": "comparing.profiles",
    "rank_stability": "stats.variance",
    "read_cells": "studies.cells",
    "read_document": "reporting.report_files",
    "read_study": "studies.study",
    "reporter": "reporting.report_files",
    "robust": "plugin.marks",
    "search": "evaluating.search",
    "search_metrics": "searching.search_result",
    "shrink": "searching.shrinker",
    "study": "studies.runner",
    "study_table": "reporting.study_tables",
    "tier": "comparing.custom_checks",
    "transfer": "evaluating.search",
    "translations": "mutations.operators.translation",
    "variance_of": "stats.variance",
    "without_label": "mutations.operators.controls",
    "write_cells": "studies.cells",
}

__all__ = [
    "BaselineFailed",
    "BrittlePrompt",
    "Cell",
    "Comparison",
    "ConfigurationError",
    "Counterexample",
    "Design",
    "Document",
    "Edit",
    "Effect",
    "EntityScore",
    "Finding",
    "Grader",
    "Guard",
    "Judge",
    "JudgedPair",
    "Metrics",
    "ModelJudge",
    "Mutation",
    "Operator",
    "PartError",
    "Profile",
    "Prompt",
    "PromptfuzzError",
    "PromptfuzzWarning",
    "RankTest",
    "Rating",
    "Reporter",
    "Request",
    "Response",
    "Robustness",
    "Search",
    "Session",
    "SimilarityTier",
    "Smallest",
    "StoreError",
    "Study",
    "StudyModel",
    "StudyTask",
    "StudyTests",
    "Target",
    "TargetError",
    "ToolCall",
    "Transfer",
    "Trial",
    "UntrustedVerdict",
    "Usage",
    "UsageError",
    "Variance",
    "aevaluate",
    "asearch",
    "atransfer",
    "brittleness",
    "compare",
    "compose",
    "cross_lingual",
    "effects_of",
    "entity_f1",
    "evaluate",
    "factorial",
    "few_shot",
    "grammar_errors",
    "guard",
    "json_rouge",
    "json_similarity",
    "judge",
    "mann_whitney",
    "mutate",
    "operator",
    "perplexity",
    "profile_for",
    "rank_stability",
    "read_cells",
    "read_document",
    "read_study",
    "reporter",
    "robust",
    "search",
    "search_metrics",
    "shrink",
    "study",
    "study_table",
    "tier",
    "transfer",
    "translations",
    "variance_of",
    "without_label",
    "write_cells",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not kept here: pytester drops modules after a run within a run, and what is kept would be of those that are gone.
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
