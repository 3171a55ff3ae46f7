import re

import pytest
from offered import OfferedReport
from shouting import sign_off

from pytest_promptfuzz import guard, judge, reporter, tier


@tier("seasons")
def seasons(baseline, response):
    named = [
        [each for each in ("autumn", "fall", "spring") if each in text.lower()]
        for text in (baseline, response)
    ]
    return 1.0 if named[0] and named[1] else None


@guard("advice")
def advice(baseline, response):
    """No answer may recommend what the baseline did not."""
    advises = "we recommend" in response.lower() and "we recommend" not in baseline.lower()
    return "only the response gives advice" if advises else None


@judge("length")
def by_length(baseline, response):
    "A summary that is as short says as much."
    shorter, longer = sorted((len(baseline), len(response)))
    return 3 if shorter / longer > 0.8 else 2


@reporter("worst")
def worst(document):
    scored = [test for test in document["tests"] if test["score"] is not None]
    return "".join(
        f"{test['score']:.2f} {test['test']}\n" for test in sorted(scored, key=lambda each: each["score"])
    )


class Table(OfferedReport):
    name = "table"


def personal(text, name):
    return "[customer]" if name == "customer" else re.sub(r"[\w.]+@[\w.]+\.com", "[mail]", text)


def pytest_promptfuzz_operators(config):
    return [sign_off]


def pytest_promptfuzz_tiers(config):
    return [seasons]


def pytest_promptfuzz_guards(config):
    return [advice]


def pytest_promptfuzz_judges(config):
    return [by_length]


def pytest_promptfuzz_reporters(config):
    return [worst, Table()]


def pytest_promptfuzz_redactors(config):
    return [personal]


@pytest.fixture
def shelf_url(tmp_path):
    return f"shelf://{tmp_path}/answers"
