"""What a person has set: limits, attempts, the budget, prices."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pytest_promptfuzz.running.limits.budget import Caps
from pytest_promptfuzz.running.limits.lane import Rule
from pytest_promptfuzz.running.limits.prices import Prices
from pytest_promptfuzz.running.limits.retries import ATTEMPTS, MAX_WAIT

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person has set.

    Attributes:
        attempts: How often a call is made at the most, 1 or more.
        rule: For every host and model.
        rules: For some, by a pattern of ``host/model``; what they leave open is taken from ``rule``.
        caps: The budget.
        prices: What calls cost.
        max_wait: Seconds for which calls wait while a provider refuses every one of them.
    """

    attempts: int = ATTEMPTS
    rule: Rule = field(default_factory=Rule)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    caps: Caps = field(default_factory=Caps)
    prices: Prices = field(default_factory=Prices)
    max_wait: float = MAX_WAIT

    def rule_of(self, lane: str) -> Rule:
        """The rule of ``host/model``: of the first pattern that matches, and the general one."""
        for pattern, rule in self.rules.items():
            if fnmatchcase(lane, pattern):
                return Rule(
                    rule.rpm or self.rule.rpm,
                    rule.tpm or self.rule.tpm,
                    rule.concurrency or self.rule.concurrency,
                )
        return self.rule
