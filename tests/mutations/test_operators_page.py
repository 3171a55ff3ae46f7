"""``docs/operators.md`` says what the registry says; ``python tests/mutations/test_operators_page.py`` writes it."""

from __future__ import annotations

import csv
from collections import Counter
from importlib import import_module
from operator import itemgetter
from pathlib import Path

from mutation_samples import PARTIAL_ROUNDS

from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS
from pytest_promptfuzz.mutations.engine.operator import Operator

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
PACKAGE = Path(__file__).parents[2] / "pytest_promptfuzz"
OPERATORS = PACKAGE / "mutations" / "operators"
INDEX = PACKAGE / "data" / "mutations" / "operators.tsv"
SHEET = Path(__file__).parent / "data" / "judgement.csv"
SOURCES = {
    "S1": "mutation-based robustness testing: lexical, semantic and structural changes in tiers of severity",
    "S2": "consistency benchmarks for enterprise prompts: general, positional and format perturbations",
    "S3": "black-box search for the worst case by replacing words",
    "S4": "studies of how much of the variance is the prompt's: typos, white space, paraphrase",
    "S5": "factorial studies of formality, phrasing, order and synonyms",
    "CheckList": "CheckList: behavioural testing with changes that must, and must not, change the answer",
    "NL-Augmenter": "NL-Augmenter: a collection of transformations of text",
    "nlpaug": "nlpaug: noise for texts by character and by word",
    "PromptBench": "PromptBench: adversarial prompts, by character, word and sentence",
    "TextAttack": "TextAttack: attacks on and augmentation of texts",
}
HEAD = """# Operators

What a mutation may do to a prompt. None of them touches a protected span (slots, numbers, quotations, code, JSON, URLs,
labels, tables, formulas), but for those that are built to: math, code and controls, which say so, the markers of a numbered
list in `numbered-to-bulleted`, tags in `tags-to-headings`, and the structure of the answer that a prompt shows in `format-json` and its like.

`preserves: yes` claims that the right answer stays the same and that the text stays one that a careful person might
write; `conditional` that this holds in most prompts. The claim was checked by reading: *judged* is the share of mutations
after which the right answer stayed, by the verdict of readers who knew neither operators nor code, round by round. The sixth round read
what rewords German, French, Spanish, Italian, Dutch and Portuguese, the others mostly English. Under another relation than invariance they
were asked that instead: the same content in the new format, an answer that must change. The mutations (up to 100 an operator and round, one of a prompt and seed, drawn by a seed) are of the prompts that
`tests/mutations/data` held by then; the later rounds read operators that were corrected or had found too few places, and draw
what was not read before as long as there is enough of it:

{rounds}
In the last round that read it in all languages, each operator that was read has {least} readings or more; of all these, {share} held. Operators without
a figure are younger than the last round.

This page is written from the registry; `promptfuzz operators` shows the same.
"""


def shares() -> dict[str, str]:
    """By operator: the shares judged right, round by round; what was changed since the last one says so."""
    with SHEET.open(encoding="utf-8", newline="") as file:
        rows = [
            (row["operator"].partition("@")[0], row["round"], row["verdict"]) for row in csv.DictReader(file)
        ]
    seen = Counter((name, number) for name, number, _ in rows)
    right = Counter((name, number) for name, number, verdict in rows if verdict == "pass")
    found: dict[str, list[str]] = {}
    for name, number in sorted(seen):
        found.setdefault(name, []).append(f"{right[name, number]} of {seen[name, number]}")
    return {name: ", then ".join(each) for name, each in found.items()}


def counted() -> str:
    """``HEAD`` with what the rounds held, and the readings of the last round of each operator."""
    with SHEET.open(encoding="utf-8", newline="") as file:
        rows = [(row["round"], row["operator"].partition("@")[0], row) for row in csv.DictReader(file)]
    table = ["| round | operators | prompts | readings | held |", "| ---: | ---: | ---: | ---: | ---: |"]
    for number in sorted({number for number, _, _ in rows}):
        read = [(name, row) for each, name, row in rows if each == number]
        names, prompts = {name for name, _ in read}, {row["prompt"] for _, row in read}
        held = sum(row["verdict"] == "pass" for _, row in read)
        table.append(f"| {number} | {len(names)} | {len(prompts)} | {len(read):,} | {held:,} |")
    last = {
        name: number for number, name, _ in sorted(rows, key=itemgetter(0)) if number not in PARTIAL_ROUNDS
    }
    of_last = [(name, row) for number, name, row in rows if last[name] == number]
    held = sum(row["verdict"] == "pass" for _, row in of_last)
    return HEAD.format(
        rounds="\n".join(table) + "\n",
        least=min(Counter(name for name, _ in of_last).values()),
        share=f"{held:,} of {len(of_last):,} ({held / len(of_last):.1%})",
    )


def versions() -> set[str]:
    """The operators as they were last judged: ``name@version``."""
    with SHEET.open(encoding="utf-8", newline="") as file:
        rows = sorted(
            (row["operator"].partition("@")[0], row["round"], row["operator"]) for row in csv.DictReader(file)
        )
    return set({name: operator for name, _, operator in rows}.values())


def quoted(text: str) -> str:
    """A prompt on one line, as code."""
    return "`" + text.replace("\n", "⏎") + "`"


def page() -> str:
    """The whole page."""
    judged, last = shares(), versions()
    parts = [counted()]
    for dimension in DIMENSIONS:
        parts.append(f"\n## {dimension.capitalize()}\n")
        for each in registry.builtin().values():
            if each.dimension != dimension:
                continue
            assert each.example is not None
            facts = [f"severity {each.severity}", f"preserves: {each.preserves}"]
            facts.append("prompts in " + ", ".join(each.languages) if each.languages else "any language")
            if each.relation != "invariance":
                facts.append(f"relation: {each.relation}")
            if each.touches:
                facts.append("touches: " + ", ".join(each.touches))
            if not each.by_default:
                facts.append("only when named")
            if each.name in judged:
                facts.append(f"judged {judged[each.name]}")
                if each.id not in last:
                    facts[-1] += f" (changed since: version {each.version})"
            summary = each.summary.replace("``", "`")
            parts.append(f"\n### {each.name}\n\n{summary}\n")
            before, after = map(quoted, each.example)
            parts.append(f"\n{before} → {after}\n\n{'; '.join(facts)}; after {', '.join(each.sources)}.\n")
    parts.append("\n## Where they come from\n\n")
    parts += [f"- {key}: {value}\n" for key, value in SOURCES.items()]
    return "".join(parts)


def test_the_page_is_the_registry_s() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def index() -> str:
    """The registry's table of operators, as their modules have them: remarks, then modules in the table's order."""
    lines = INDEX.read_text(encoding="utf-8").splitlines(keepends=True)
    remarks = [line for line in lines if line.startswith("#")]
    modules = dict.fromkeys(line.split("\t")[1] for line in lines if not line.startswith("#"))
    found: dict[str, str] = {}
    for module in modules:
        for each in vars(import_module(f"pytest_promptfuzz.mutations.operators.{module}")).values():
            if isinstance(each, Operator):
                found.setdefault(each.name, f"{each.name}\t{module}\t{each.dimension}\n")
    return "".join([*remarks, *found.values()])


def test_the_index_has_every_operator_where_it_is() -> None:
    assert INDEX.read_text(encoding="utf-8") == index()
    named = {line.split("\t")[1] for line in index().splitlines() if not line.startswith("#")}
    assert named == {path.stem for path in OPERATORS.glob("*.py")} - {"__init__"}


def test_every_operator_tells_where_it_comes_from() -> None:
    for each in registry.builtin().values():
        assert each.sources, each.name
        assert set(each.sources) <= set(SOURCES), each.name
        assert each.summary.endswith("."), each.name


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8", newline="\n")
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
