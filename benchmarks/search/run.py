"""Which search finds what flips a label, with how many queries, and how small: all methods on the same sentences.

    python benchmarks/search/run.py FOLDER_OR_FILE ... --minilm FOLDER [--json results.json]

Files hold a sentence, a tab and a label on each line. Every method searches the same space of the same sentences of the
same victim, and every text that it asks for counts, but for the same text again. Needs scikit-learn, a WordNet
(``apt-get install wordnet-base``) and, for the second victim, an exported MiniLM (``promptfuzz model export``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from driving import Case, Tried, judged_by, run
from sentences import files_in, joined, prompts, read, split
from spaces import Spaces, described
from tables import overview, pairs, parts
from victims import Bent, Linear, Remembered, Simulated
from wordnet import FOLDER, wordnet

from pytest_promptfuzz.searching.methods import DEFAULT, METHODS, BeamAnnealing
from pytest_promptfuzz.searching.search_loop import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from driving import Ask
    from sentences import Labelled, Split
    from victims import Victim

    from pytest_promptfuzz.searching.search_loop import Method

ROOT = Path(__file__).parents[2]
BUDGET = 200
LONG = 2000
DRAWING = frozenset([DEFAULT, "beam-annealing", "random"])
"""Methods that draw; the others do the same with every seed, and are run once."""
PUBLISHED = BeamAnnealing()
ABLATION: Mapping[str, Method] = {
    "as published": PUBLISHED,
    "places as they stand": replace(PUBLISHED, order="text"),
    "accepted against the parent": replace(PUBLISHED, accept="parent"),
    "always accepted": replace(PUBLISHED, accept="always"),
    "no cooling": replace(PUBLISHED, cooling=0.0),
    "temperature 0.1": replace(PUBLISHED, temperature=0.1),
    "width fixed at 2": replace(PUBLISHED, adapt="fixed"),
    "width that also narrows": replace(PUBLISHED, adapt="both"),
    "no elitism": replace(PUBLISHED, elite=None),
    "the best fill the beam": replace(PUBLISHED, fill="best"),
    "two rounds more": replace(PUBLISHED, restarts=2),
    "all that helped": replace(
        PUBLISHED, accept="parent", temperature=0.1, adapt="fixed", fill="best", restarts=2
    ),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A victim, what is attacked, and what a search is told."""

    title: str
    cases: Sequence[Case]
    ask: Ask
    queries: int = BUDGET


def cases_of(victim: Victim, part: Sequence[Labelled], spaces: Spaces, most: int) -> list[Case]:
    """What the victim gets right and something may be changed in, at most so many."""
    said = victim.shares([each.text for each in part])
    labels = list(victim.labels)
    right = [
        each
        for shares, each in zip(said, part, strict=True)
        if labels[shares.index(max(shares))] == each.label
    ]
    cases = []
    bare = 0
    for each in right:
        if len(cases) == most:
            break
        space = spaces.of(each.text)
        if space is None:
            bare += 1
        else:
            cases.append(Case(space, each.label))
    print(
        f"{victim.name}: right about {len(right)} of {len(part)}; {bare} had no word that may change; "
        f"{len(cases)} are attacked, {described([case.space for case in cases])}",
        flush=True,
    )
    return cases


def simulated(spaces: Spaces, most: int) -> Scene:
    """The simulated model on the prompts of this repository."""
    model = Simulated()
    known = prompts(ROOT)
    said = model.says([each.text for each in known])
    right = [each for each, answer in zip(known, said, strict=True) if answer == each.label][:most]
    cases = [Case(space, each.label) for each in right if (space := spaces.of(each.text)) is not None]
    print(f"simulated: right about {len(right)}; {described([case.space for case in cases])}", flush=True)

    def ask(asked: Sequence[tuple[str, str]]) -> list[Seen]:
        answers = model.says([text for text, _ in asked])
        flipped = [answer != label for answer, (_, label) in zip(answers, asked, strict=True)]
        return [Seen(float(each), each) for each in flipped]

    return Scene("simulated model, label only", cases, ask)


def searched(scene: Scene, methods: Mapping[str, Method], seeds: Sequence[int]) -> dict[str, Tried]:
    """Every method's searches of a scene."""
    found = {}
    for name, method in methods.items():
        started = time.perf_counter()
        ran = [
            run(scene.cases, scene.ask, method, queries=scene.queries, seed=seed)
            for seed in (seeds if name in DRAWING or name in ABLATION else seeds[:1])
        ]
        found[name] = Tried([each.results for each in ran], sum(each.seconds for each in ran))
        took = time.perf_counter() - started
        print(f"  {scene.title}: {name}, {took:.0f} s", file=sys.stderr, flush=True)
    return found


def scenes(asked: argparse.Namespace, kind: str, victims: Sequence[Victim], parted: Split) -> list[Scene]:
    """What is measured for one kind of table."""
    part = parted.tuning if asked.part == "tuning" else parted.attacked
    spaces = Spaces(wordnet(asked.wordnet), more=kind == "wider")
    if kind == "prompts":
        return [simulated(spaces, asked.sentences)] if "simulated" in asked.victims else []
    texts = joined(part, 3) if kind == "longer" else part
    most = {"sentences": asked.sentences, "capped": asked.capped}.get(kind, asked.larger)
    made = []
    for victim in victims:
        cases = cases_of(victim, texts, spaces, min(most, asked.sentences))
        for feedback in ["confidence"] if kind == "parts" else asked.feedback:
            title = f"{victim.name}, {'label only' if feedback == 'label' else feedback}"
            queries = LONG if kind == "capped" else BUDGET
            made.append(Scene(title, cases, judged_by(victim, feedback), queries))
    return made


def classifiers(asked: argparse.Namespace, learnt: Sequence[Labelled]) -> list[Victim]:
    """The victims that are trained."""
    victims: list[Victim] = []
    if "linear" in asked.victims:
        victims.append(Remembered(Linear(learnt)))
    if "minilm" in asked.victims:
        from pytest_promptfuzz.judging.encoders import OnnxEmbedder

        victims.append(Remembered(Bent(learnt, OnnxEmbedder(asked.minilm)), asked.answers))
    return victims


KINDS = {
    "sentences": "Sentences",
    "longer": "Longer texts: three sentences of one label",
    "capped": "Up to 2,000 queries",
    "wider": "A larger space: characters, punctuation, layout and order as well",
    "prompts": "Prompts",
    "parts": "The parts of beam-annealing",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path, help="files of text<TAB>label, or folders of them")
    parser.add_argument("--part", choices=("attacked", "tuning"), default="attacked")
    parser.add_argument(
        "--victims",
        nargs="+",
        choices=("linear", "minilm", "simulated"),
        default=["linear", "minilm", "simulated"],
    )
    parser.add_argument(
        "--feedback", nargs="+", choices=("confidence", "label"), default=["confidence", "label"]
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="which tables")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--sentences", type=int, default=10_000, help="the most that are attacked")
    parser.add_argument("--capped", type=int, default=40, help="how many of them with up to 2,000 queries")
    parser.add_argument("--larger", type=int, default=120, help="how many of them in larger spaces")
    parser.add_argument("--wordnet", type=Path, default=FOLDER)
    parser.add_argument("--minilm", type=Path, help="the folder of an exported MiniLM")
    parser.add_argument("--answers", type=Path, help="where MiniLM's answers are kept between runs")
    parser.add_argument("--json", type=Path, help="where every search's result is written")
    asked = parser.parse_args()
    if asked.minilm is None and "minilm" in asked.victims:
        parser.error("the victim minilm needs --minilm FOLDER; or leave it out: --victims linear simulated")
    methods = {name: METHODS[name] for name in METHODS if name in asked.methods}
    written: dict[str, object] = {}
    parted = split(read(files_in(asked.data)))
    victims = classifiers(asked, parted.learnt)
    for kind in (each for each in KINDS if each in asked.only):
        several = scenes(asked, kind, victims, parted)
        if not several:
            continue
        print(f"\n## {KINDS[kind]}\n", flush=True)
        for scene in several:
            seeds = asked.seeds[:1] if kind == "capped" else asked.seeds
            found = searched(scene, ABLATION if kind == "parts" else methods, seeds)
            print(f"**{scene.title}**, {len(scene.cases)} attacked.\n")
            print(parts(found) if kind == "parts" else overview(found, scene.queries))
            if kind != "parts" and DEFAULT in found and len(found) > 1:
                print(pairs(found, DEFAULT, scene.queries))
            sys.stdout.flush()
            written[f"{kind}: {scene.title}"] = {name: tried.runs for name, tried in found.items()}
            if asked.json:
                asked.json.write_text(json.dumps(written), encoding="utf-8")


if __name__ == "__main__":
    main()
