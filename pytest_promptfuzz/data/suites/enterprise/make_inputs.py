"""Write the inputs of the four tasks, in nine languages: the same cases in each, the same ones each time.

python make_inputs.py [--cases 3] [--seed 0] [--to data]

Every case is made up. Put cases of your own in their place: files with the same columns, one object a line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
PRODUCTS = ("Lumora", "Vexona", "Tarnoc", "Quillbase", "Osterly")
PEOPLE = ("Ada Brook", "Bruno Keller", "Chiara Longo", "Daan Visser", "Emi Sato", "Fatou Diallo")
ENVIRONMENTS = ("production", "staging", "development")
FIELDS = {
    "product": "string",
    "version": "string",
    "environment": list(ENVIRONMENTS),
    "error_code": "string",
    "contact": "string",
}


def facts(number: int, seed: int) -> dict[str, Any]:
    """What one case is about; the same in all languages."""
    draw = Random(f"{seed} {number}")  # noqa: S311 - the same draws each time are the point
    agent, customer = draw.sample(PEOPLE, 2)
    return {
        "id": f"case-{1001 + number}",
        "kind": number % 3,
        "product": draw.choice(PRODUCTS),
        "version": f"{draw.randint(1, 9)}.{draw.randint(0, 20)}",
        "environment": draw.choice(ENVIRONMENTS),
        "code": f"E-{draw.randint(100, 999)}",
        "day": f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
        "minutes": draw.randint(5, 55),
        "agent": agent,
        "customer": customer,
    }


def case_summary(case: dict[str, Any], say: dict[str, str]) -> dict[str, Any]:
    """A case, and its summary."""
    details = f"{say['setting']} {say['problem']} {say['event']} {say['cause']} {say['fix']}"
    return {
        "id": case["id"],
        "case_details": f"{case['id']} ({case['customer']}): {details}",
        "expected": {
            "Main Problem": say["problem"],
            "Key Events": [say["event"], say["cause"]],
            "Final Resolution": say["fix"],
        },
    }


def chat_summary(case: dict[str, Any], say: dict[str, str]) -> dict[str, Any]:
    """A chat, and its summary."""
    turns = [
        ("agent", say["hello"]),
        ("customer", f"{say['problem']} {say['setting']}"),
        ("agent", say["event"]),
        ("agent", f"{say['cause']} {say['fix']}"),
        ("customer", say["thanks"]),
    ]
    lines = [f"[10:{2 * at:02}] {case[who]}: {text}" for at, (who, text) in enumerate(turns)]
    return {
        "id": case["id"],
        "chat_transcript": "\n".join(lines),
        "expected": {
            "Main Problem": say["problem"],
            "Key Events": [say["event"], say["cause"]],
            "Final Resolution": say["fix"],
            "People Involved": [case["agent"], case["customer"]],
        },
    }


def question_answering(case: dict[str, Any], says: list[dict[str, str]]) -> dict[str, Any]:
    """A question, three articles of which one answers it, and the answer."""
    right, say = case["kind"] + 1, says[case["kind"]]
    articles = {
        f"doc_{at}": f"{each['problem']} {each['cause']} {each['fix']}" for at, each in enumerate(says, 1)
    }
    return {
        "id": case["id"],
        "query": say["question"],
        **articles,
        "expected": {
            "output_response": f"{say['cause']} (doc_{right}) {say['fix']} (doc_{right})",
            "references": [f"doc_{right}"],
        },
    }


def slot_filling(case: dict[str, Any], say: dict[str, str]) -> dict[str, Any]:
    """A request, and the fields that it fills."""
    return {
        "id": case["id"],
        "fields": FIELDS,
        "issue": f"{say['setting']} {say['problem']} - {case['customer']}",
        "question": say["question"],
        "expected": {
            "product": case["product"],
            "version": case["version"],
            "environment": case["environment"],
            "error_code": case["code"],
            "contact": case["customer"],
        },
    }


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Write a data file, an object a line."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (folder / name).write_text("".join(lines), encoding="utf-8", newline="\n")


def main() -> None:
    """Write four files for each language."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=3, help="how many cases (3)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other cases (0)")
    parser.add_argument("--to", type=Path, default=HERE / "data", help="the folder of the files (data)")
    given = parser.parse_args()
    if given.cases < 1:
        parser.error("--cases: write a whole number of 1 or more")
    given.to.mkdir(parents=True, exist_ok=True)
    cases = [facts(number, given.seed) for number in range(given.cases)]
    languages = json.loads((HERE / "phrases.json").read_text(encoding="utf-8"))
    for language, phrases in languages.items():
        frame = {key: text for key, text in phrases.items() if isinstance(text, str)}
        # Of each case the sentences of all kinds: articles are written of those that are not the question's, too.
        says = [
            [{key: text.format(**case) for key, text in (frame | kind).items()} for kind in phrases["kinds"]]
            for case in cases
        ]
        own = [each[case["kind"]] for case, each in zip(cases, says, strict=True)]
        for name, make, texts in (
            ("case-summary", case_summary, own),
            ("chat-summary", chat_summary, own),
            ("question-answering", question_answering, says),
            ("slot-filling", slot_filling, own),
        ):
            rows = [make(case, text) for case, text in zip(cases, texts, strict=True)]
            write(given.to, f"{name}.{language}.jsonl", rows)
    print(f"Wrote {4 * len(languages)} files of {given.cases} cases to {given.to}.")


if __name__ == "__main__":
    main()
