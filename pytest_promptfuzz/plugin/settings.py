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
        "model that `llm` calls: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated",
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
        "what must reach the threshold, unless the test sets its own: point (the score) or confident (the lower bound "
        "of the score); no-worse is point, and also fails a test that got worse than in the stored run",
        "GATE",
    ),
    Setting("task", values.text, None, "how answers are compared, unless the test sets its own task", "NAME"),
    Setting(
        "stop",
        values.one_of("certain", "sprt", "sequential", "never"),
        "certain",
        "when a test stops asking, unless it sets its own: certain (once its verdict cannot change), sprt or "
        "sequential (on statistical evidence), or never",
        "WHEN",
    ),
    Setting(
        "shrink",
        values.queries,
        60,
        "how many queries may be used to shrink the change that breaks a test, unless the test sets its own; off or 0: "
        "none",
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
        "how many queries a test that searches (search=) may use, unless it sets its own",
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
    Setting("seed", values.seed, 0, "another seed gives other mutations", "N", "int"),
    Setting(
        "judge",
        values.text,
        None,
        "model that rates answers which the built-in comparisons cannot decide, unless the test sets its own: named "
        "like a target, or a judge of the project",
        "NAME",
    ),
    Setting(
        "judge_when",
        values.one_of("undecided", "always"),
        "undecided",
        "when the judge is asked: undecided (if the built-in comparisons cannot decide), or always (for all answers "
        "but equal ones and contradictions)",
        "WHEN",
    ),
    Setting(
        "judge_repeats",
        values.whole(1),
        1,
        "how often the judge rates the same answers; the median counts",
        "N",
        "int",
    ),
    Setting(
        "mode",
        values.one_of("auto", "record", "replay", "live"),
        "auto",
        "where answers come from: auto (stored answers, calls for the rest), record (calls, and writes recordings "
        "beside the tests), replay (recordings only) or live (always calls)",
        "MODE",
    ),
    Setting(
        "cache_dir",
        values.text,
        ".promptfuzz",
        "folder for stored answers, relative to the root of the project",
        "DIR",
    ),
    Setting(
        "store",
        values.text,
        None,
        "Redis server through which several machines share answers: redis://HOST:PORT/DATABASE?ttl=30d",
        "URL",
    ),
    Setting(
        "concurrency",
        values.whole(1),
        8,
        "how many calls are made at once: by one test, or by all declarative tests together",
        "N",
        "int",
    ),
    Setting(
        "lookahead",
        values.whole(0),
        20,
        "how many declarative tests after the running one may make their calls in advance",
        "N",
        "int",
    ),
    Setting(
        "speculate",
        values.switch,
        True,
        "on: make the calls of all mutations of a sync test at once, before its body asks; off: each waits for the "
        "body",
        "SWITCH",
    ),
    *(
        Setting(
            verdict,
            values.one_of(*EFFECTS),
            default,
            f"what pytest makes of {a_test}: fail, error, skip, xfail or pass",
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
        "how often the body of one test may run at most (hypothesis multiplies examples by trials)",
        "N",
        "int",
    ),
    Setting(
        "endpoints",
        values.endpoints,
        (),
        "addresses of models that the plugin does not know, one on each line: HOST/PATH (* stands for anything), then "
        "where the prompt and the answer stand in the JSON, such as text=$.prompt answer=$.output.text",
        "LINES",
    ),
    Setting(
        "allow_hosts",
        values.hosts,
        None,
        "hosts that replayed and simulated tests may connect to, such as a database: HOST, HOST:PORT or *.internal. "
        "Separate several with commas, or repeat the option",
        "HOSTS",
        several=True,
    ),
    Setting(
        "history",
        values.kept,
        200,
        "how many runs without a name are kept for later comparison; off or 0: none",
        "N",
        "count",
    ),
    Setting(
        "compare",
        values.text,
        None,
        "what the run is compared with: the NAME of a saved run, the PATH of a report or history file, a git REF, or "
        "last (the latest run of each test)",
        "BASE",
    ),
    Setting(
        "fail_on",
        values.conditions,
        None,
        "what else fails the run: 'score drop > 0.05', 'any new deviation', 'new brittle', 'drift', 'cost rise > 20%%' "
        "or 'gone'. Separate several with commas, or repeat the option",
        "EXPR",
        several=True,
    ),
    Setting(
        "report",
        values.text,
        None,
        "reports to write, such as json:PATH,html:PATH. Formats: json, html, md, gitlab, sarif, github (without a "
        "path), and those of other plugins",
        "FORMAT:PATH",
    ),
    *(Setting(each.name, each.read, each.default, each.help, each.metavar, each.type) for each in GIVEN),
    Setting(
        "model",
        values.text,
        None,
        "folder of the model that compares answers by meaning: exported by `promptfuzz model`, or of "
        "sentence-transformers",
        "DIR",
    ),
    Setting(
        "entailment",
        values.entailment,
        None,
        "folder of the model that tells whether one text follows from another, in ONNX or of sentence-transformers",
        "DIR",
    ),
    Setting(
        "embedder",
        values.embedder,
        None,
        "provider of embeddings that compares answers by meaning, instead of a model on this machine: openai:MODEL or "
        "compatible:MODEL@URL",
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
    "how many mutations, unless the test sets its own: a number, or numbers by operator or dimension: A=2,B=1",
    "N|A=2,B=1",
    "count",
)
OPERATORS = Setting(
    "operators",
    values.operators,
    None,
    "operators or dimensions that make the mutations, unless the test sets its own: A,B, or with weights A=2,B=1",
    "A,B",
)
CHOICES = (MUTATIONS, OPERATORS)
"""What ``plugin/choosing.py`` reads: nearer places win over farther ones between the two, too."""
