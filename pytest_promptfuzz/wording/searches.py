"""Searches in sentences: what was found, why a search ended, and what a person must know of it."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

_MEASURES = {"bleu": "BLEU", "chrf": "chrF", "rouge-l": "ROUGE-L"}


def _on(name: str) -> str:
    return f" on input {name}" if name else ""


# Why an answer reaches a goal.


def goal_reached(objective: str) -> str:
    """The objective does not say more."""
    return f"{objective} is reached"


def label_became(before: str, now: str) -> str:
    """Another label."""
    return f"label {before!r:.80} became {now!r:.80}"


def surest_label_became(before: tuple[str, float], now: tuple[str, float]) -> str:
    """Another label is the likeliest: each with the target's confidence in it."""
    return f"label {before[0]!r:.80} ({before[1]:.2g} sure) became {now[0]!r:.80} ({now[1]:.2g} sure)"


def too_unlike(measure: str, likeness: float, bound: float) -> str:
    """The answer is less like the reference than the bound."""
    shown = floor(1000 * likeness) / 1000  # rounded up it might not be below
    return f"{_MEASURES.get(measure, measure)} {shown:g} is below {bound:g}"


def function_says_so(name: str) -> str:
    """A function of the user's is the objective."""
    return f"{name} says that it is what must not happen"


# Why a search ended.


def unconfirmed() -> str:
    """A change reached the goal, and too few queries were left."""
    return "a change reached the goal, but too few queries were left to be sure. Use more queries"


def exhausted(method: str) -> str:
    """The method has no more questions."""
    return f"no change reached the goal, and {method} had nothing more to try"


def queries_spent(made: int) -> str:
    """The queries are spent, and nothing was found."""
    return f"no change reached the goal in {made} queries"


def all_queries_made(made: int, most: int) -> str:
    """More queries would be needed."""
    return f"{made} of {most} queries were made"


def time_spent(seconds: float) -> str:
    """The time is over."""
    return f"max_seconds={seconds:g} was reached"


def cost_spent(cost: float, more: int) -> str:
    """The money does not suffice for the next queries."""
    return f"max_cost={cost:g} is too little for {more} more queries"


def target_failed(failures: int, message: str) -> str:
    """The target does not answer any more."""
    return f"{failures} queries in a row got no answer; the last: {message}"


def noisy(first: object, other: object, failure: str = "") -> str:
    """The unmutated prompt reaches the goal now and then.

    Args:
        first: Its first answer; ``None`` where nothing shows it.
        other: The answer that differs; likewise.
        failure: How the test's own check failed on one of them, where it did.
    """
    told = "asked again, the model gave another answer to the unmutated prompt"
    if first and other:
        told = f"the model answered the unmutated prompt first {first!r:.80} and then {other!r:.80}"
    if failure:
        told += f", and the test's own check failed ({failure})"
    return (
        f"{told}. No change of the prompt is needed for that, so none can be blamed. Make the "
        "answers steadier (temperature 0), or choose an objective that noise does not reach"
    )


def interrupted() -> str:
    """Somebody ended it."""
    return "it was interrupted"


def found(query: int, ending: str) -> str:
    """The goal was reached; ``ending`` is why what was found is not as small as can be, or empty."""
    more = ended_before(ending) if ending else ""
    return f"a change of the prompt reached the goal by query {query}{more}"


def too_few_answers(answered: int, queries: int) -> str:
    """Most queries have no answer."""
    return f"only {answered} of {counted(queries, 'query')} got an answer, which is too few to tell"


def too_few_prompts(why: str, prompts: int) -> str:
    """Nothing was found, and hardly anything was tried."""
    return f"{why}, and only {counted(prompts, 'changed prompt')} got an answer, which is too few to tell"


# What a person must know.


def budget_without_changes(queries: int, needed: int) -> str:
    """The budget does not suffice for one changed prompt."""
    return f"{counted(queries, 'query')} {'is' if queries == 1 else 'are'} too few. Use {needed} or more"


def budget_for_places_alone(
    method: str, first: int, places: int, queries: int, left: int, needed: int
) -> str:
    """The budget does not suffice for more than what the method asks first."""
    return (
        f"{method} first uses {first} queries to learn which of {places} places matter. {queries} queries leave "
        f"{left}, which is too few to try a change. Use {needed} or more, or the default method, which tries changes "
        "from the first query"
    )


def unmutated_unanswered(answered: int, wanted: int) -> str:
    """The unmutated prompt has too few answers to compare a find with."""
    return f"the unmutated prompt answered only {answered} of {wanted} times: the change that was found may be noise"


def finds_lost(amount: int) -> str:
    """Changes reached the goal, and mostly did not when they were asked again."""
    return f"{counted(amount, 'changed prompt')} reached the goal, but mostly not when asked again: the answers vary"


def objective_constant(objective: str, loss: float) -> str:
    """The objective is the same for every answer."""
    return f"the objective {objective} gave {loss:g} for every answer, so the search had no direction"


# A test that is a search.


def known_breaks(name: str) -> str:
    """A known counterexample suffices."""
    return f"A known counterexample still breaks the test{_on(name)}; nothing more was searched."


def change_breaks(
    name: str, query: int, queries: int, method: str, more: int = 0, places: int = 0, ending: str = ""
) -> str:
    """A change breaks the test.

    Args:
        name: Of the input.
        query: Which of the ``queries`` found it.
        queries: How many there may be.
        method: How it was searched.
        more: Queries after that one.
        places: How many places of the prompt could change.
        ending: Why the change is not as small as can be, or empty.
    """
    smaller = f"; {more} more made it smaller" if more else ""
    how = f"{method}, {counted(places, 'place')}"
    return f"Query {query} of {queries:,} found a change that breaks the test{_on(name)}{smaller} ({how}){ending}."


def budget_ended() -> str:
    """What breaks the test is not as small as can be: the budget ended."""
    return "; the budget ended before it was as small as can be"


def ended_before(why: str) -> str:
    """What breaks the test is not as small as can be: something else ended the search."""
    return f"; before it was as small as can be, {why}"


def none_found(
    queries: int, inputs: int, method: str, endings: Sequence[str], errors: int, *, exhausted: bool
) -> str:
    """Nothing breaks the test.

    Args:
        queries: That were made.
        inputs: Of the test.
        method: How it was searched.
        endings: Why searches of inputs ended before their time.
        errors: Queries without an answer.
        exhausted: Whether nothing more could be asked.
    """
    over = f" over {inputs} inputs" if inputs > 1 else ""
    text = f"No counterexample in {queries:,} queries{over} ({method})"
    text += ", which had nothing more to try" if exhausted else ""
    text += "".join(f", before {each}" for each in endings)
    return f"{text}; {errors} of them got no answer." if errors else f"{text}."


def undone(why: str, name: str) -> str:
    """A search that found nothing proves nothing."""
    return f"{why}. The input is {name}." if name else f"{why}."


def nothing_searchable(why: str) -> str:
    """The unmutated prompt breaks the test now and then."""
    return f"The search tells nothing: {why}"


def nothing_certain(why: str) -> str:
    """What was found could not be confirmed."""
    return f"The search is not sure: {why}"


def interrupted_after(queries: int) -> str:
    """Somebody ended it."""
    return f"It was interrupted after {queries} queries"


def budget_spent(made: int, queries: int, message: str) -> str:
    """The budget of the whole run is spent."""
    return f"The budget was spent after {made} of {queries} queries: {message}".rstrip(".")


def too_little(errors: int, queries: int, message: str) -> str:
    """Too many queries have no answer."""
    why = f"{errors} of {queries} queries got no answer; the last: {message}"
    return f"Too few queries were answered: {why}".rstrip(".")


def nothing_asked(why: str) -> str:
    """No changed prompt was asked."""
    return f"No changed prompt was asked: {why}"


def budget_too_small() -> str:
    """The method's first questions took all queries."""
    return "the budget is too small for more than the method's first queries"


def unsearched(inputs: int) -> str:
    """Inputs were left out."""
    were = "were" if inputs > 1 else "was"
    return f"{counted(inputs, 'more input')} {were} not searched, because the search had ended"


# Finds that are asked of another target.


def reached_there() -> str:
    """The other target reaches the goal without a change."""
    return "the unmutated prompt's answer reaches the goal there"


def unanswered_there() -> str:
    """The other target does not answer."""
    return "the changed prompt got no answer"


# Changes that do not fit a prompt any more.


def edits_do_not_fit(problem: str) -> str:
    """The edits cannot be made in the prompt of today."""
    return f"the prompt has changed so that its edits do not fit: {problem}"


def changed_already() -> str:
    """The prompt of today says what the change makes of it."""
    return "what it changes to stands in the prompt now"


def place_gone(around: str) -> str:
    """What stood around an insertion is not there any more."""
    return f"the prompt has changed: nothing like {around} stands in it any more"


def text_gone(text: str) -> str:
    """What is changed is not there any more."""
    return f"the prompt has changed: {text} does not stand in it any more"


def text_protected(text: str) -> str:
    """What is changed may not be changed any more."""
    return f"the prompt has changed: {text} is not free to be changed in it any more"
