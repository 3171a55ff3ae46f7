"""Prompt regression testing for pytest: mutate the prompt, compare the answers, fail on brittleness.

Everything public is here and loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.compare import compare
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
    from pytest_promptfuzz.evaluating.baseline import BaselineFailed
    from pytest_promptfuzz.evaluating.evaluate import aevaluate, evaluate
    from pytest_promptfuzz.evaluating.fluency import grammar_errors, perplexity
    from pytest_promptfuzz.evaluating.search import asearch, search
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.evaluating.transfer import atransfer, transfer
    from pytest_promptfuzz.judging.judge import ModelJudge
    from pytest_promptfuzz.judging.model import Grader, Judge, JudgedPair, Rating
    from pytest_promptfuzz.judging.registry import judge
    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.factorial import Design, factorial
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.mutations.operator import Operator, operator
    from pytest_promptfuzz.mutations.operators.controls import without_label
    from pytest_promptfuzz.mutations.operators.few_shot import few_shot
    from pytest_promptfuzz.mutations.operators.translation import cross_lingual, translations
    from pytest_promptfuzz.mutations.planner import mutate
    from pytest_promptfuzz.mutations.specs import compose
    from pytest_promptfuzz.plugin.marks import robust
    from pytest_promptfuzz.plugin.outcome import BrittlePrompt, UntrustedVerdict
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.reporting.document import Document
    from pytest_promptfuzz.reporting.formats import Reporter, reporter
    from pytest_promptfuzz.reporting.reading import read_document
    from pytest_promptfuzz.scoring.counterexample import Counterexample
    from pytest_promptfuzz.scoring.effects import Effect, effects_of, rank_stability
    from pytest_promptfuzz.scoring.mann_whitney import RankTest, mann_whitney
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.scoring.trial import Trial
    from pytest_promptfuzz.scoring.variance import Variance, brittleness, variance_of
    from pytest_promptfuzz.searching.metrics import Metrics, search_metrics
    from pytest_promptfuzz.searching.result import Search
    from pytest_promptfuzz.searching.shrink import Smallest, shrink
    from pytest_promptfuzz.searching.transferred import Transfer
    from pytest_promptfuzz.targets.model import Request, Response, Target, ToolCall, Usage

_HOMES = {
    "BaselineFailed": "evaluating.baseline",
    "BrittlePrompt": "plugin.outcome",
    "Comparison": "comparing.comparison",
    "ConfigurationError": "errors",
    "Counterexample": "scoring.counterexample",
    "Design": "mutations.factorial",
    "Document": "reporting.document",
    "Edit": "mutations.edits",
    "Effect": "scoring.effects",
    "EntityScore": "comparing.metrics",
    "Finding": "comparing.guards.pair",
    "Grader": "judging.model",
    "Guard": "comparing.custom_checks",
    "Judge": "judging.model",
    "JudgedPair": "judging.model",
    "Metrics": "searching.metrics",
    "ModelJudge": "judging.judge",
    "Mutation": "mutations.mutation",
    "Operator": "mutations.operator",
    "PartError": "errors",
    "Profile": "comparing.profiles",
    "Prompt": "prompts.prompt",
    "PromptfuzzError": "errors",
    "PromptfuzzWarning": "errors",
    "RankTest": "scoring.mann_whitney",
    "Rating": "judging.model",
    "Reporter": "reporting.formats",
    "Request": "targets.model",
    "Response": "targets.model",
    "Robustness": "scoring.robustness",
    "Search": "searching.result",
    "Session": "evaluating.session",
    "SimilarityTier": "comparing.custom_checks",
    "Smallest": "searching.shrink",
    "StoreError": "errors",
    "Target": "targets.model",
    "TargetError": "errors",
    "ToolCall": "targets.model",
    "Transfer": "searching.transferred",
    "Trial": "scoring.trial",
    "UntrustedVerdict": "plugin.outcome",
    "Usage": "targets.model",
    "UsageError": "errors",
    "Variance": "scoring.variance",
    "aevaluate": "evaluating.evaluate",
    "asearch": "evaluating.search",
    "atransfer": "evaluating.transfer",
    "brittleness": "scoring.variance",
    "compare": "comparing.compare",
    "compose": "mutations.specs",
    "cross_lingual": "mutations.operators.translation",
    "effects_of": "scoring.effects",
    "entity_f1": "comparing.metrics",
    "evaluate": "evaluating.evaluate",
    "factorial": "mutations.factorial",
    "few_shot": "mutations.operators.few_shot",
    "grammar_errors": "evaluating.fluency",
    "guard": "comparing.custom_checks",
    "json_rouge": "comparing.formats.json_values",
    "json_similarity": "comparing.formats.json_values",
    "judge": "judging.registry",
    "mann_whitney": "scoring.mann_whitney",
    "mutate": "mutations.planner",
    "operator": "mutations.operator",
    "perplexity": "evaluating.fluency",
    "profile_for": "comparing.profiles",
    "rank_stability": "scoring.effects",
    "read_document": "reporting.reading",
    "reporter": "reporting.formats",
    "robust": "plugin.marks",
    "search": "evaluating.search",
    "search_metrics": "searching.metrics",
    "shrink": "searching.shrink",
    "tier": "comparing.custom_checks",
    "transfer": "evaluating.transfer",
    "translations": "mutations.operators.translation",
    "variance_of": "scoring.variance",
    "without_label": "mutations.operators.controls",
}

__all__ = [
    "BaselineFailed",
    "BrittlePrompt",
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
    "read_document",
    "reporter",
    "robust",
    "search",
    "search_metrics",
    "shrink",
    "tier",
    "transfer",
    "translations",
    "variance_of",
    "without_label",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not kept here: pytester drops modules after a run within a run, and what is kept would be of those that are gone.
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
