"""Which controls read right, and what a control in every plan costs tests that are sound.

    python benchmarks/controls.py read            # what each control makes of 60 prompts, for a person to judge
    python benchmarks/controls.py sound           # 60 sound tests, and 12 that cannot fail, on the simulated model

``read`` takes 20 prompts of the corpora in ``tests/mutations/data`` and the 40 below, which no operator was written on.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz import evaluate
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.simulated.target import SimulatedModel

if TYPE_CHECKING:
    from collections.abc import Callable

CORPORA = Path(__file__).parents[1] / "tests" / "mutations" / "data"
SIMULATED = CORPORA.parents[1] / "simulated" / "data"
CONTROLS = ("answer-fixed", "answer-fixed-first", "instruction-negated", "number-changed", "labels-replaced")
WRITTEN = (
    "Decide whether the bug report below is a duplicate of an open issue. Answer duplicate or new.\n\nReport:\n{report}\n\nOpen issues:\n{issues}",
    "You are the assistant of a dental practice. A patient writes:\n\n{message}\n\nIs the case urgent? Answer yes or no.",
    "Extract the following from the lease and return JSON with the keys rent, deposit and start_date. Use null for what is missing.\n\n{lease}",
    "Write a SQL query for PostgreSQL that answers the question. Return only the query.\n\nSchema:\n{schema}\n\nQuestion: {question}",
    "Translate the following text into Spanish. Keep names and numbers as they are.\n\n{text}",
    "Summarise this meeting in exactly three bullet points:\n{transcript}",
    "Rate the tone of the review on a scale from 1 to 5, where 1 is hostile and 5 is friendly. Reply with the number only.\n\nReview: {review}",
    "Q: {question}\nA:",
    'Context:\n{context}\n\nUsing only the context above, answer the question. If the context does not contain the answer, say "I don\'t know".\n\nQuestion: {question}',
    "Given the diff, write a commit message of at most 72 characters in the imperative mood.\n\n```diff\n{diff}\n```",
    "Label each email as SPAM or HAM.\n\nEmail: Win a free cruise now!\nLabel: SPAM\n\nEmail: Lunch at noon?\nLabel: HAM\n\nEmail: {email}\nLabel:",
    "Route the call to sales, support, accounts or none.\n\nTranscript: {transcript}",
    "What is the main complaint in this feedback? Name it in no more than five words.\n\n{feedback}",
    "Check the contract clause for unusual risks. List every risk you find, one per line; if there are none, write NONE.\n\nClause: {clause}",
    "Convert the recipe to metric units and return it as Markdown.\n\n{recipe}",
    "Fasse die folgende Beschwerde in zwei Sätzen zusammen.\n\nBeschwerde: {text}",
    "Classe le courriel suivant dans l'une de ces catégories : facture, livraison, autre. Réponds par un seul mot.\n\n{courriel}",
    "Clasifica la reseña como positiva, negativa o neutra.\n\nReseña: {texto}",
    'Act as a strict JSON API. Input: a product title. Output: {{"brand": string, "colour": string or null}}. Title: {title}',
    "Find all people mentioned in the article and return their names as a JSON array, in the order in which they appear.\n\n{article}",
    "You review Python code. Point out bugs only, no style. For each, give the line number and a one-sentence fix.\n\n```python\n{code}\n```",
    "Choose the best title for the post:\nA) {title_a}\nB) {title_b}\nC) {title_c}\n\nReply with a single letter.",
    "Compute the total in euros, VAT of 19 % included. Show the steps, then write the result on the last line as TOTAL: <amount>.\n\n{items}",
    "Write a polite reply that declines the invitation, thanks the sender and suggests another date. Keep it below 80 words.\n\nInvitation: {mail}",
    "Does the passage support the claim? Respond with SUPPORTED, REFUTED or UNCLEAR.\n\nPassage: {passage}\nClaim: {claim}",
    "Turn the notes into a press release. It must have a headline, two paragraphs and a quote by the chief executive.\n\nNotes: {notes}",
    "Rewrite the paragraph so that a ten-year-old understands it:\n\n{paragraph}",
    "# Role\nYou sort incoming mail for an insurer.\n\n# Categories\n- claim: damage is reported\n- contract: a change of the policy\n- complaint: the sender is dissatisfied\n\n# Task\nGive the one category that fits best.\n\n# Mail\n{mail}",
    "Is the following number prime? {number}",
    "Generate four multiple-choice questions about the chapter. Mark the correct option with an asterisk.\n\n{chapter}",
    "Detect the language of the text and answer with its ISO 639-1 code.\n\nText: {text}",
    "Mask all personal data in the ticket: replace names with [NAME], phone numbers with [PHONE]. Return the ticket otherwise unchanged.\n\n{ticket}",
    "Explain to a new nurse when to use the blue form and when the green form, based on this policy:\n\n{policy}",
    "Sort these tasks by urgency, most urgent first:\n{tasks}",
    "From the CSV below, which supplier had the highest average delay? Answer with the supplier's name.\n\n```csv\n{csv}\n```",
    "Suggest a name for a coffee shop in {city}. Just the name.",
    "Correct the spelling of the user's search query. If nothing is wrong, return it as it is.\n\n<query>{query}</query>",
    "Pick the tool to call: search_flights, book_hotel or none. Return only its name.\n\nUser: {utterance}",
    "Compare the two job applicants and recommend one. Justify the choice in one paragraph.\n\n1. {first}\n2. {second}",
    "Do not give medical advice. If the user asks for it, reply with the sentence: Please ask your doctor. Otherwise answer the question briefly.\n\nUser: {question}",
)


def corpus(count: int) -> list[str | Prompt]:
    """Prompts of the corpora, evenly from each file."""
    files = sorted(CORPORA.glob("corpus*.jsonl"))
    found: list[str | Prompt] = []
    for place in range(count):
        rows = files[place % len(files)].read_text(encoding="utf-8").splitlines()
        row = json.loads(rows[(place * 37 + 11) % len(rows)])
        found.append(row["text"] if "text" in row else Prompt.from_messages(row["messages"]))
    return found


def read() -> None:
    """Print what each control makes, beside what stood there."""
    for number, prompt in enumerate([*corpus(20), *WRITTEN]):
        print(f"=== {number} ===\n{as_prompt(prompt).text}")
        for name in CONTROLS:
            for each in plan(prompt, {name: 1}).mutations:
                edits = "; ".join(
                    f"[-{each.original[edit.start : edit.end]}-]{{+{''.join(map(str, edit.parts))}+}}"
                    for edit in each.edits
                )
                print(f"  {name}: {edits}")


def sound_tests(count: int) -> list[str]:
    """Prompts that the simulated model answers rightly, which nobody wrote with controls in mind."""
    rows = (SIMULATED / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(row)["prompt"] for row in rows]
    found = [each for each in prompts if isinstance(each, str)]
    return found[:: max(1, len(found) // count)][:count]


class Deaf:
    """The simulated model behind a guard that takes out of a prompt whatever a control put into it."""

    def __init__(self) -> None:
        self.model = SimulatedModel()

    def __call__(self, prompt: str) -> str:
        asked = re.sub(r"\s*Whatever the text (?:above|below) says, answer[^.]*\.\s*", "", prompt)
        return self.model.answer(Request(({"role": "user", "content": asked},))).text


def constant(prompt: str) -> str:
    """An application that ignores its prompt."""
    del prompt
    return "billing"


def echo(prompt: str) -> str:
    """An application that answers with the first words of its prompt, and never asks a model."""
    return " ".join(prompt.lower().split()[:3])


def sound() -> None:
    """What the default control says of sound tests, of a noisy model, of a guarded one, and of what cannot fail."""
    tests = sound_tests(60)
    kinds: dict[str, tuple[Callable[[str], object], object]] = {
        "simulated, prompt as one text": (str, "simulated"),
        "simulated, prompt as a system message": (as_system, "simulated"),
        "simulated, noise 0.1": (str, "simulated?noise=0.1"),
        "guarded against every control": (str, Deaf()),
        "function that ignores its argument": (str, constant),
        "function that repeats its argument": (str, echo),
    }
    for name, (shape, target) in kinds.items():
        verdicts: Counter[str] = Counter()
        without: Counter[str] = Counter()
        noted = calls = 0
        for text in tests:
            found = evaluate(shape(text), target)  # type: ignore[arg-type]
            other = evaluate(shape(text), target, controls=0)  # type: ignore[arg-type]
            verdicts["insensitive" if found.reason == "insensitive" else found.verdict] += 1
            without[other.verdict] += 1
            noted += any("control" in note for note in found.notes)
            calls += found.spent.calls - other.spent.calls
        print(
            f"{name}: {dict(verdicts)}; without: {dict(without)}; notes {noted}; calls more {calls / len(tests):.2f}"
        )


def as_system(text: str) -> Prompt:
    """The first paragraph as the system message, the rest as what the user says."""
    first, _, rest = text.partition("\n\n")
    messages = [{"role": "system", "content": first}, {"role": "user", "content": rest}]
    return Prompt.from_messages(messages if rest else [{"role": "user", "content": first}])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["read", "sound"])
    {"read": read, "sound": sound}[parser.parse_args().what]()
