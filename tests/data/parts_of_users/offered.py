"""Parts as objects, nothing of which is inherited: what a package offers by its entry points."""

from pytest_promptfuzz import Finding, JudgedPair, Rating


class OfferedTier:
    name = "offered-tier"

    def similarity(self, baseline, response):
        return 1.0 if "fine" in response else None


class OfferedGuard:
    name = "offered-guard"

    def check(self, baseline, response):
        if "loud" in response:
            return Finding("offered-guard", "doubt", "the response is loud")
        return "the response is rude" if "rude" in response else None


class OfferedJudge:
    name = "offered-judge"

    def rate(self, pair):
        assert isinstance(pair, JudgedPair)
        return Rating(3, "close enough") if "judge" in pair.response else None

    def grade(self, measure, prompt, answer):
        return 3 if measure == "conciseness" else 2


class OfferedReport:
    name = "offered-report"

    def render(self, document):
        return "".join(f"{test['test']} {test['verdict']}\n" for test in document["tests"])


TIER, GUARD, JUDGE, REPORT = OfferedTier(), OfferedGuard(), OfferedJudge(), OfferedReport()
