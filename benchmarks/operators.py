"""What each operator makes of the corpora: `python benchmarks/operators.py [--semantic MODEL] [--guards]`.

For every built-in operator, asked for 4 mutations of every prompt in `tests/mutations/data/`:

    can      prompts in a language the operator works on
    acts     of those, the prompts on which it makes at least one mutation
    full     of the prompts it acts on, those where it makes all that were asked
    yield    mutations made, of those asked on the prompts it acts on
    kept     mutations that hold every protected text once and whole (but what the operator is built to touch)
    distinct mutations that differ from the prompt and their siblings, after folding case and white space unless
             these are the operator's point
    change   mean share of the words changed
    severity mean

With `--guards`, over a sample spread evenly over the prompts: the share of mutations in which a guard of the
comparison finds a contradiction, and the AUC at which guards tell this operator's mutations from the controls'. With
`--semantic`, the mean and least cosine between prompt and mutation under MiniLM, and the AUC of the cosine. An AUC is
the chance that a harmless mutation looks more like its prompt than a control does: 0.5 is none, 1 is all told apart.
Prompts longer than the model reads are left out of the cosine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards import checks
from pytest_promptfuzz.comparing.guards.pair import Pair
from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.comparing.reading.text import Text
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging.encoders import SentenceTransformerEmbedder
from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.edits import check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.text.expressions import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.mutations.engine.operator import Operator

DATA = Path(__file__).parents[1] / "tests" / "mutations" / "data"
FILES = ("corpus.jsonl", "corpus_more.jsonl", "corpus_rare.jsonl", "corpus_frozen.jsonl")


@dataclass
class Row:
    """The figures of one operator; shares are 0 to 1, None where nothing was measured."""

    operator: str
    dimension: str
    preserves: str
    relation: str
    can: int = 0
    acts: int = 0
    full: int = 0
    asked: int = 0
    made: int = 0
    kept: int = 0
    distinct: int = 0
    change: float | None = None
    severity: float | None = None
    contradicted: float | None = None
    guards_auc: float | None = None
    cosine: float | None = None
    least_cosine: float | None = None
    cosine_auc: float | None = None
    mutations: list[Mutation] = field(default_factory=list, repr=False)
    found: list[float] = field(default_factory=list, repr=False)
    cosines: list[float] = field(default_factory=list, repr=False)


def prompts(names: Sequence[str]) -> list[tuple[Prompt, str]]:
    """The prompts of the files with their languages."""
    rows = [
        json.loads(line) for name in names for line in (DATA / name).read_text(encoding="utf-8").splitlines()
    ]
    return [
        (
            Prompt.from_messages(row["messages"]) if "messages" in row else Prompt(row["text"]),
            row["language"].partition("-")[0],
        )
        for row in rows
    ]


def is_kept(operator: Operator, prompt: Prompt, mutation: Mutation) -> bool:
    """Whether protected text stands in the mutation once and whole."""
    spans = prompt.spans
    draft = Draft(
        prompt.text, [(start, end) for start, end, _ in spans], kinds=[kind for _, _, kind in spans]
    )
    try:
        check_edits(mutation.edits, len(prompt.text), draft.protected(operator.touches))
    except UsageError:
        return False
    return True


def count_distinct(operator: Operator, prompt: Prompt, mutations: Iterable[Mutation]) -> int:
    """How many of the mutations differ from the prompt and from those before them."""

    def key(text: str) -> str:
        return text if operator.surface else fold(text)

    seen = {key(prompt.text)}
    count = 0
    for mutation in mutations:
        count += key(mutation.text) not in seen
        seen.add(key(mutation.text))
    return count


def measured(operator: Operator, corpus: Sequence[tuple[Prompt, str]], asked: int, seed: int) -> Row:
    """The figures that need no comparison."""
    row = Row(operator.name, operator.dimension, operator.preserves, operator.relation)
    for prompt, language in corpus:
        mutations = plan(prompt, asked, seed=seed, operators=[operator]).mutations
        row.can += bool(mutations) or not operator.languages or language in operator.languages
        if not mutations:
            continue
        row.acts += 1
        row.full += len(mutations) == asked
        row.asked += asked
        row.made += len(mutations)
        row.kept += sum(is_kept(operator, prompt, each) for each in mutations)
        row.distinct += count_distinct(operator, prompt, mutations)
        row.mutations += mutations
    if row.mutations:
        row.change = statistics.fmean(each.change_rate for each in row.mutations)
        row.severity = statistics.fmean(each.severity for each in row.mutations)
    return row


def spread(mutations: Sequence[Mutation], most: int) -> list[Mutation]:
    """At most ``most`` of the mutations, at even distances, so that all prompts have their part."""
    step = max(1, -(-len(mutations) // most))
    return list(mutations[::step])


def alarm(mutation: Mutation) -> float:
    """What the guards find between prompt and mutation: 0 nothing, 1 a doubt, 2 a contradiction."""
    findings = checks.run(Pair(Text(mutation.original), Text(mutation.text)), checks.CHECKS)
    return max((2.0 if each.kind == "contradiction" else 1.0 for each in findings), default=0.0)


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """The chance that one of ``higher`` lies above one of ``lower``, ties counted half; None without either."""
    if not higher or not lower:
        return None
    below = sorted(lower)
    wins = sum(bisect_left(below, each) + bisect_right(below, each) for each in higher)
    return wins / (2 * len(higher) * len(lower))


def compared(rows: Sequence[Row], most: int, model: str | None) -> None:
    """Add what guards and, with a model, the cosine say."""
    embedder = SentenceTransformerEmbedder(model) if model else None
    known: dict[str, Sequence[float]] = {}
    for row in rows:
        sample = spread(row.mutations, most)
        row.found = [alarm(each) for each in sample]
        if sample:
            row.contradicted = row.found.count(2.0) / len(sample)
        if embedder is None:
            continue
        whole = [
            each
            for each in sample
            if not (embedder.truncates(each.original) or embedder.truncates(each.text))
        ]
        texts = [text for each in whole for text in (each.original, each.text) if text not in known]
        known.update(zip(texts, embedder.embed(texts), strict=True) if texts else ())
        row.cosines = [cosine(known[each.original], known[each.text]) for each in whole]
        if row.cosines:
            row.cosine, row.least_cosine = statistics.fmean(row.cosines), min(row.cosines)
    control_alarms = [-each for row in rows if row.dimension == "control" for each in row.found]
    control_cosines = [each for row in rows if row.dimension == "control" for each in row.cosines]
    for row in rows:
        if row.dimension != "control":
            row.guards_auc = auc([-each for each in row.found], control_alarms)
            row.cosine_auc = auc(row.cosines, control_cosines)


UNSHOWN = {"mutations", "found", "cosines"}
COLUMNS = (
    ("can", "can"),
    ("acts", "acts"),
    ("full", "full"),
    ("yield", "yield"),
    ("kept", "kept"),
    ("distinct", "distinct"),
    ("change", "change"),
    ("severity", "severity"),
    ("contradicted", "contra"),
    ("guards_auc", "g-AUC"),
    ("cosine", "cos"),
    ("least_cosine", "min"),
    ("cosine_auc", "c-AUC"),
)


def cells(row: Row) -> dict[str, str]:
    """The figures of a row as text."""

    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.0f}%" if whole else "-"

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    return {
        "can": str(row.can),
        "acts": share(row.acts, row.can),
        "full": share(row.full, row.acts),
        "yield": share(row.made, row.asked),
        "kept": share(row.kept, row.made),
        "distinct": share(row.distinct, row.made),
        "change": number(row.change),
        "severity": number(row.severity),
        "contradicted": "-" if row.contradicted is None else f"{100 * row.contradicted:.0f}%",
        "guards_auc": number(row.guards_auc),
        "cosine": number(row.cosine),
        "least_cosine": number(row.least_cosine),
        "cosine_auc": number(row.cosine_auc),
    }


def show(rows: Sequence[Row], *, compare: bool, semantic: bool) -> None:
    """Print the table, and what holds of all of it."""
    hidden = set() if compare else {"contradicted", "guards_auc"}
    hidden |= set() if semantic else {"cosine", "least_cosine", "cosine_auc"}
    columns = [each for each in COLUMNS if each[0] not in hidden]
    wide = max((len(row.operator) for row in rows), default=0)
    print(f"{'operator':<{wide}} preserves   " + " ".join(f"{head:>8}" for _, head in columns))
    for row in rows:
        shown = cells(row)
        print(
            f"{row.operator:<{wide}} {row.preserves:<11} "
            + " ".join(f"{shown[key]:>8}" for key, _ in columns)
        )
    made = sum(row.made for row in rows)
    print(
        f"\n{len(rows)} operators, {made:,} mutations; protected text kept in {sum(r.kept for r in rows):,},"
        f" distinct {sum(r.distinct for r in rows):,}"
    )
    low = [row.operator for row in rows if row.asked and row.made < 0.8 * row.asked]
    idle = [row.operator for row in rows if not row.acts]
    print(f"yield below 80 % where they act: {', '.join(low) or 'none'}")
    print(f"act on no prompt: {', '.join(idle) or 'none'}")
    if not compare:
        return
    harmless = [row for row in rows if row.preserves != "no" and row.relation == "invariance"]
    controls = [row for row in rows if row.dimension == "control"]
    for name, sign, of in (("guards", -1, "found"), ("cosine", 1, "cosines")):
        one = [sign * each for row in harmless for each in getattr(row, of)]
        other = [sign * each for row in controls for each in getattr(row, of)]
        told = auc(one, other)
        if told is not None:
            print(f"AUC of the {name}, {len(one)} harmless against {len(other)} controls: {told:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=4, help="asked of each operator on each prompt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operators", default="", help="names, separated by commas; all by default")
    parser.add_argument("--frozen", action="store_true", help="only the prompts written before the operators")
    parser.add_argument("--guards", action="store_true", help="compare prompt and mutation with the guards")
    parser.add_argument(
        "--semantic", metavar="MODEL", help="a MiniLM: its directory, or its name; implies --guards"
    )
    parser.add_argument("--sample", type=int, default=40, help="mutations an operator that are compared")
    parser.add_argument("--json", action="store_true", help="the figures as JSON lines")
    options = parser.parse_args()
    corpus = prompts(FILES[-1:] if options.frozen else FILES)
    names = [each for each in options.operators.split(",") if each] or list(registry.builtin())
    rows = [measured(registry.get(name), corpus, options.mutations, options.seed) for name in names]
    compare = options.guards or options.semantic is not None
    if compare:
        compared(rows, options.sample, options.semantic)
    if not options.json:
        show(rows, compare=compare, semantic=options.semantic is not None)
        return
    for row in rows:
        print(json.dumps({key: value for key, value in vars(row).items() if key not in UNSHOWN}))


if __name__ == "__main__":
    main()
