"""Did the mutation arrive? A trial whose mutation reached no model says nothing about the prompt."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Run

# Whatever rendering may replace, by any template engine; what is left must be found as it stands.
_SLOT = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\$\{[^{}]*\}|\{[^{}]*\}|[{}]+|%\(\w+\)\w|<[^<>\n]{1,40}>|\$\w+",
    re.DOTALL,
)


def arrived(run: Run, baseline: Run, prompt: Prompt, *, repeatable: bool) -> bool:
    """Whether the prompt of a run was seen.

    Where the baseline's requests were seen, the run must have asked something that the baseline did not: the mutated
    text, or anything at all if the unmutated body asks nothing new when it is run again. Where none were seen, a
    rendered ``Prompt`` counts. What is mutated in flight has arrived where it was put into a request.

    Args:
        run: The run of the mutation.
        baseline: The run of the unmutated prompt.
        prompt: The mutated prompt.
        repeatable: Whether the control trial asked nothing that the baseline had not asked.
    """
    if run.watch.in_flight is not None:
        return run.watch.in_flight.arrived
    if not baseline.watch.calls:
        return run.rendered or _seen(prompt, _texts(run))
    return bool(_asked(run) - _asked(baseline)) and (repeatable or _seen(prompt, _texts(run)))


def ignored(run: Run, prompt: Prompt) -> bool:
    """Whether the prompt of a run that did not arrive stands in its requests all the same, where it does not count."""
    return run.watch.in_flight is None and bool(run.watch.ignore) and _seen(prompt, _texts(run))


def sent(run: Run, prompt: Prompt) -> bool:
    """Whether a prompt stands in the requests of a run."""
    return _seen(prompt, _texts(run))


def asks_more(run: Run, baseline: Run) -> bool:
    """Whether a run asked the models something, or more often, than the baseline did."""
    return bool(_asked(run) - _asked(baseline))


def asks_less(run: Run, baseline: Run) -> bool:
    """Whether the baseline asked the models something, or more often, than the run did."""
    return asks_more(baseline, run)


def _asked(run: Run) -> Counter[str]:
    # A request that was retried until it was answered was asked once.
    asked = Counter(call.digest for call in run.watch.calls)
    asked.update(fault.digest for fault in run.watch.unrecovered())
    return asked


def _texts(run: Run) -> list[str]:
    return [text for call in run.watch.calls for text in call.texts]


def _seen(prompt: Prompt, texts: Sequence[str]) -> bool:
    """Whether the prompt's literal pieces (what stands between its slots) occur in order in the requests."""
    contents = [message["content"] for message in prompt.messages]
    wanted = [content for content in contents if isinstance(content, str)]
    return all(any(_holds(text, _pieces(content)) for text in texts) for content in wanted)


def _pieces(content: str) -> list[str]:
    # Applications strip what they read from files; a mutation of nothing else then leaves the request as it was.
    return [piece for piece in _SLOT.split(content.strip()) if piece]


def _holds(text: str, pieces: Sequence[str]) -> bool:
    position = 0
    for piece in pieces:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True
