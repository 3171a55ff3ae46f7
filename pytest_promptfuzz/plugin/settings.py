"""Every run-wide setting: its name, what reads it, its default and its help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.plugin import values
from pytest_promptfuzz.running.limits.given import GIVEN

if TYPE_CHECKING:
    from collections.abc import Callable

EFFECTS = ("fail", "error", "skip", "xfail", "pass")
"""What a verdict other than ``pass`` may be in pytest's sense."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One run-wide setting: its name in all three places, its reader, its default and its help.

    The option of one that takes ``several`` may be repeated; commas part what stands in one place.
    """

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str
    metavar: str | None = None
    ini_type: Literal["string", "int", "float", "count"] = "string"
    several: bool = False

    @property
    def option(self) -> str:
        """On the command line."""
        return "--promptfuzz-" + self.name.replace("_", "-")

    @property
    def ini(self) -> str:
        """In the ini file."""
        return "promptfuzz_" + self.name

    @property
    def environment(self) -> str:
        """In the environment."""
        return "PROMPTFUZZ_" + self.name.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "target",
        values.text,
        None,
        "model that `llm` calls: openai:…, anthropic:…, compatible:…@URL, simulated",
        "NAME",
    ),
    Setting(
        "threshold",
        values.share,
        0.85,
        "lowest score that passes, 0 to 1, unless the test sets its own",
        "X",
        "float",
    ),
    Setting(
        "gate",
        values.one_of("point", "confident", "no-worse"),
        "point",
        "what must reach the threshold, unless the test sets its own: point (the score) or confident (its lower "
        "bound); no-worse compares the test with the stored run besides",
        "GATE",
    ),
    Setting("task", values.text, None, "how answers are compared, unless the test sets its own task", "NAME"),
    Setting(
        "stop",
        values.one_of("certain", "sprt", "sequential", "never"),
        "certain",
        "when a test stops asking, unless it sets its own: certain, sprt, sequential or never",
        "WHEN",
    ),
    Setting(
        "shrink",
        values.queries,
        60,
        "most queries to make the change that breaks a test smaller, unless the test sets its own; off, or 0: none",
        "N",
        "count",
    ),
    Setting(
        "controls",
        values.controls,
        1,
        "controls of a test that names none, to see that it can fail: 1; off, or 0: none",
        "N",
        "count",
    ),
    Setting(
        "queries",
        values.whole(1),
        200,
        "most queries of a test that searches (search=), unless the test sets its own",
        "N",
        "int",
    ),
    Setting(
        "pinned",
        values.one_of("warn", "fail"),
        "warn",
        "what happens when a known counterexample still breaks a test: warn or fail, unless the test sets its own",
        "EFFECT",
    ),
    *(
        Setting(
            f"{kind}_drift",
            values.one_of("fail", "warn", "ignore"),
            "warn",
            f"what happens when {what}: fail, warn or ignore, unless the test sets its own",
            "POLICY",
        )
        for kind, what in (
            ("model", "the answers to the same prompt differ from the snapshot"),
            ("prompt", "the prompt differs from the snapshot"),
            ("comparator", "answers are compared in another way than for the snapshot"),
        )
    ),
    Setting("seed", values.seed, 0, "seed of the plans of mutations", "N", "int"),
    Setting(
        "judge",
        values.text,
        None,
        "who rates answers that nothing cheaper can compare, unless the test sets its own: a model as for the target, "
        "or a judge of the project",
        "NAME",
    ),
    Setting(
        "judge_when",
        values.one_of("undecided", "always"),
        "undecided",
        "when the judge is asked: undecided, or always (all but equal answers and contradictions)",
        "WHEN",
    ),
    Setting(
        "judge_repeats",
        values.whole(1),
        1,
        "how often a judge is asked the same; the median counts",
        "N",
        "int",
    ),
    Setting(
        "mode",
        values.one_of("auto", "record", "replay", "live"),
        "auto",
        "auto: stored answers, calls for the rest; record: call, and write recordings beside the tests; replay: "
        "recordings only; live: always call",
        "MODE",
    ),
    Setting(
        "cache_dir",
        values.text,
        ".promptfuzz",
        "folder of stored answers, from the root of the project",
        "DIR",
    ),
    Setting(
        "store",
        values.text,
        None,
        "store of answers that several machines share, beside the local one: redis://HOST:PORT/DATABASE?ttl=30d",
        "URL",
    ),
    Setting(
        "concurrency",
        values.whole(1),
        8,
        "calls made at once: of a test, or of all declarative tests",
        "N",
        "int",
    ),
    Setting(
        "lookahead",
        values.whole(0),
        20,
        "declarative tests after the running one whose calls are made ahead",
        "N",
        "int",
    ),
    Setting(
        "speculate",
        values.switch,
        True,
        "on, off: make the calls of a sync test's mutations at once, before its body asks",
        "SWITCH",
    ),
    *(
        Setting(
            verdict,
            values.one_of(*EFFECTS),
            default,
            f"what {a_test} is: fail, error, skip, xfail or pass",
            "EFFECT",
        )
        for verdict, default, a_test in (
            ("brittle", "fail", "a brittle test"),
            ("noisy", "error", "a noisy test"),
            ("inconclusive", "error", "an inconclusive test"),
        )
    ),
    Setting(
        "max_runs",
        values.whole(1),
        1000,
        "most runs of one test's body (hypothesis multiplies examples by trials)",
        "N",
        "int",
    ),
    Setting(
        "endpoints",
        values.endpoints,
        (),
        "more URLs that are models', one a line: a glob of host and path, then text=$.path system=$.path answer=$.path",
        "LINES",
    ),
    Setting(
        "allow_hosts",
        values.hosts,
        None,
        "hosts that replayed and simulated tests may reach beside this machine, databases and the like: HOST, "
        "HOST:PORT or *.internal; several with commas, or the option again",
        "HOSTS",
        several=True,
    ),
    Setting(
        "history",
        values.kept,
        200,
        "how many runs without a name are kept to be compared with; off, or 0: none",
        "N",
        "count",
    ),
    Setting(
        "compare",
        values.text,
        None,
        "what the run is compared with: a saved run's NAME, a PATH of its report or history file, a git REF, or last: "
        "each test's latest run",
        "BASE",
    ),
    Setting(
        "fail_on",
        values.conditions,
        None,
        "what fails the run, beside its tests: 'score drop > 0.05', 'any new deviation', 'new brittle', 'drift', "
        "'cost rise > 20%%', 'gone'; several with commas, or the option again",
        "EXPR",
        several=True,
    ),
    Setting(
        "report",
        values.text,
        None,
        "reports of the run, by format: json:PATH,html:PATH; also md, gitlab, sarif, what hooks and packages offer, "
        "and github, without a path",
        "FORMAT:PATH",
    ),
    *(Setting(each.name, each.read, each.default, each.help, each.metavar, each.type) for each in GIVEN),
    Setting(
        "model",
        values.text,
        None,
        "folder of the model that compares meaning, exported or of sentence-transformers",
        "DIR",
    ),
    Setting(
        "entailment",
        values.text,
        None,
        "folder of the model that tells whether one text follows from another, in ONNX or of sentence-transformers",
        "DIR",
    ),
    Setting(
        "embedder",
        values.embedder,
        None,
        "provider whose embeddings compare meaning instead of a model here: openai:MODEL or compatible:MODEL@URL",
        "NAME",
    ),
)

RUN_KEYS = (
    "threshold",
    "gate",
    "seed",
    "task",
    "stop",
    "shrink",
    "controls",
    "pinned",
    "model_drift",
    "prompt_drift",
    "comparator_drift",
    "judge",
    "judge_when",
    "judge_repeats",
)
"""The settings that a test's contract has from the run where its mark does not say."""

MUTATIONS = Setting(
    "mutations",
    values.mutations,
    8,
    "how many mutations, unless the test sets its own: a count, or A=2,B=1 by operator or dimension, or A,B",
    "N|A=2,B=1",
    "count",
)
OPERATORS = Setting(
    "operators",
    values.operators,
    None,
    "what makes mutations, unless the test sets its own: operators and dimensions A,B, or weights A=2,B=1",
    "A,B",
)
CHOICES = (MUTATIONS, OPERATORS)
"""What ``plugin/choosing.py`` reads: nearer places win over farther ones between the two, too."""
