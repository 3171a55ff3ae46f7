"""Tests that are expected to fail, or skipped, and what becomes of verdicts by other names."""

import pytest

from pytest_promptfuzz import robust

LOUD = "Tell me how loud this text is."


def application(prompt):
    return "loud" if str(prompt).isupper() else "quiet"


@pytest.mark.xfail(strict=True, reason="capitals are loud")
@robust(LOUD, operators=["upper-case"], mutations=1, controls=0)
def test_brittle(prompt):
    return application(prompt)


@pytest.mark.xfail(strict=True, reason="it passes")
@robust(LOUD, operators=["double-space"], mutations=1, controls=0)
def test_passes(prompt):
    return application(prompt)


@pytest.mark.xfail(reason="not strict")
@robust(LOUD, operators=["double-space"], mutations=1, controls=0)
def test_not_strict(prompt):
    return application(prompt)


@pytest.mark.skip(reason="not today")
@robust(LOUD)
def test_skipped(prompt):
    return application(prompt)


@robust(LOUD, operators=["upper-case"], mutations=1, controls=0)
def test_let_through(prompt):
    return application(prompt)


@robust(LOUD)
def test_no_control(prompt):
    return application(prompt)
