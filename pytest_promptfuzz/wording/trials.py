"""Trials in sentences: why one says nothing about the prompt, and what else is to be known of one."""

from __future__ import annotations

from pytest_promptfuzz.errors import unstopped

# A mutation that did not arrive.


def prompt_kept() -> str:
    """The requests hold the unmutated prompt."""
    return (
        "The requests hold the unmutated prompt: something keeps the old text. That may be a cached function, `from "
        "module import PROMPT` in another module, or a client made at import. Name the text that the application "
        "reads, mutate='module.PROMPT', or change it in the requests, mutate='role:system'."
    )


def another_text() -> str:
    """The requests hold neither prompt."""
    return (
        "The requests hold another text: neither the unmutated prompt nor the mutated one. Pass the prompt to the "
        "code that makes the request, name the text that this code reads, mutate='module.PROMPT', or change it in the "
        "requests, mutate='role:system'."
    )


def no_request() -> str:
    """Nothing was asked, neither now nor with the unmutated prompt."""
    return (
        "No request to a model was seen, and the body rendered no Prompt. If the body calls a model, the plugin has "
        "to follow the call (docs/unchanged-applications.md, Other protocols). If it calls none, give the test the "
        "argument `prompt`, and let the body use it: prompt.format(...)."
    )


def cached() -> str:
    """Nothing was asked but with the unmutated prompt."""
    return (
        "The unmutated prompt made a request, and the mutated one made none: the application answers from a cache of "
        "its own. Switch this cache off in the test, or clear it at the beginning of the body."
    )


def undone() -> str:
    """The application takes the change back."""
    return (
        "The application asked the model exactly what it asks for the unmutated prompt, though other mutations reached "
        "the model: it undoes this change itself (changes the case, strips or joins lines, say). It tells nothing "
        "about the prompt; choose other operators with operators=."
    )


def ignored() -> str:
    """``ignore=`` leaves out the mutated prompt."""
    return (
        "The mutated prompt was sent, and ignore= leaves out the place where it stands, so that it is answered like "
        "the unmutated one. Name narrower paths in ignore=."
    )


# A run that was not answered, skipped, or was refused.


def baseline_mixed() -> str:
    """There is nothing to compare with."""
    return "The unmutated prompt failed and passed."


def confined(refused: str, raised: str) -> str:
    """A connection was refused, and the body raised."""
    return f"{refused} (the body then raised {raised})"


def skipped(reason: object) -> str:
    """The body skipped."""
    return f"The body skipped on this mutation only: {reason}"


def refused_anyway(refusal: str) -> str:
    """The unmutated prompt is refused as well."""
    return f"The unmutated prompt was refused as well when it was asked again ({refusal.rstrip('.')})."


def answered_again() -> str:
    """What a model refused it answered later."""
    return "It was answered when it was asked again."


def failed_otherwise(message: str) -> str:
    """What a model refused had another error later."""
    return f"Asked again, it got another error: {message}"


def unmutated_failed(message: str, *, refused: bool) -> str:
    """The unmutated prompt was not answered either."""
    kind = "refused" if refused else "not answered"
    return f"The unmutated prompt, asked again, was {kind} as well: {message}"


def refusal_doubted(message: str, why: str) -> str:
    """A refusal may not be the mutation's doing."""
    return f"{message} {why}"


# Answers that were compared.


def after_refusal(explanation: str, refusal: str) -> str:
    """The application may have answered in the place of a model that refused."""
    return f"{explanation}, after the provider refused a request: {unstopped(refusal)}"


def one_of_several(request: str, explanation: str) -> str:
    """One of several answers decides."""
    return f"in the answer to {request}: {explanation}"


def calls_not_matched() -> str:
    """Nothing tells which answers belong together."""
    return (
        "the test made other calls at once than for the unmutated prompt, and it cannot be told which answers belong "
        "together; return what is to be compared"
    )


def only_checked() -> str:
    """The same, of a test that checks its answers itself."""
    return f"only the test's own checks judged: {calls_not_matched()}"
