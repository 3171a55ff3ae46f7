# ruff: noqa: ARG001, ARG005 - what pytest and the plugin call has these names
"""An operator, a tier, a guard, a judge, a redactor and a reporter of the project."""

from pytest_promptfuzz import Edit, guard, judge, operator, reporter, tier


@operator("sign-off", dimension="augmentation", severity=0.1, preserves="yes")
def sign_off(draft, rng):
    """A closing phrase at the end."""
    first = rng.choice((" Thanks!", " Thank you."))
    for each in (first, " Best regards"):
        yield [Edit(len(draft.text), len(draft.text), (each,))]


@tier("seasons")
def same_seasons(baseline, response):
    """Whether the same seasons are named."""
    named = [
        {each for each in ("spring", "autumn", "fall") if each in text.lower()}
        for text in (baseline, response)
    ]
    return float(named[0] == named[1]) if any(named) else None


@guard("advice")
def advice(baseline, response):
    """No answer may recommend what the baseline did not."""
    advises = "we recommend" in response.lower() and "we recommend" not in baseline.lower()
    return "only the response gives advice" if advises else None


@judge("length")
def by_length(baseline, response):
    """Answers that are as long say as much."""
    shorter, longer = sorted((len(baseline), len(response)))
    return 3 if shorter / longer > 0.8 else 2


@reporter("lines")
def lines(document):
    """One line a test."""
    return "".join(f"{each['test']} {each['verdict']}\n" for each in document["tests"])


def pytest_promptfuzz_operators(config):
    return [sign_off]


def pytest_promptfuzz_tiers(config):
    return [same_seasons]


def pytest_promptfuzz_guards(config):
    return [advice]


def pytest_promptfuzz_judges(config):
    return [by_length]


def pytest_promptfuzz_redactors(config):
    return [lambda text, name: text.replace("Lena", "[somebody]")]


def pytest_promptfuzz_reporters(config):
    return [lines]
