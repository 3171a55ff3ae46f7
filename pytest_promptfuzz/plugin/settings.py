"""Every run-wide setting: its name, what reads it, its default and its help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import nearest
from pytest_promptfuzz.running.limits.settings import GIVEN, whole

if TYPE_CHECKING:
    from collections.abc import Callable


# What settings may be: readers of text, whose docstrings say in messages what was expected.


def read_seed(text: str) -> int:
    """A whole number."""
    return int(text)


def read_queries(text: str) -> int:
    """A whole number of 0 or more, or off."""
    return 0 if text == "off" else whole(0)(text)


def read_controls(text: str) -> int:
    """1, or 0 or off."""
    if text not in {"0", "1", "off"}:
        raise ValueError("1, or 0 or off")
    return int(text == "1")


def read_kept(text: str) -> int:
    """A whole number of 0 or more, or off."""
    return read_queries(text)


def read_conditions(text: str) -> Any:
    """A condition such as score drop > 0.05, or several with commas."""
    from pytest_promptfuzz.history.changes import read_conditions

    return tuple(read_conditions(text))


def read_share(text: str) -> float:
    """A number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def one_of(*names: str) -> Callable[[str], str]:
    """A reader of ``names``."""

    def read(text: str) -> str:
        if text not in names:
            hint = nearest(text, names)
            raise ValueError("" if hint.startswith("Known") else hint)  # what is expected is said with it
        return text

    read.__doc__ = "one of " + ", ".join(names)
    return read


def read_switch(text: str) -> bool:
    """Either on or off."""
    return one_of("on", "off")(text) == "on"


def read_text(text: str) -> str:
    """A text."""
    return text


def read_embedder(text: str) -> str:
    """A provider of embeddings such as openai:text-embedding-3-small or compatible:MODEL@URL."""
    from pytest_promptfuzz.targets.sdk_clients import embeddings

    embeddings(text)
    return text


def read_entailment(text: str) -> str:
    """The folder of an entailment model."""
    from pytest_promptfuzz.judging.models import check_entailment_folder

    return check_entailment_folder(text)


def read_endpoints(text: str) -> Any:
    """Endpoints, one a line: GLOB text=$.path system=$.path answer=$.path."""
    from pytest_promptfuzz.providers.custom_protocol import parse_endpoints

    return parse_endpoints(text)


def read_hosts(text: str) -> Any:
    """A host such as db.internal, db.internal:5432 or *.internal, or several with commas."""
    from pytest_promptfuzz.wire.network import AllowedHosts

    return AllowedHosts.parse(text)


def read_mutations(text: str) -> Any:
    """A count such as 8, counts such as lexical=3,synonym=2, or names such as lexical,synonym."""
    from pytest_promptfuzz.mutations.engine.selection import read_mutations

    return read_mutations(text)


def read_operators(text: str) -> Any:
    """Names such as lexical,synonym, or weights such as lexical=3,synonym=1."""
    from pytest_promptfuzz.mutations.engine.selection import read_operators

    return read_operators(text)


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
        read_text,
        None,
        "model that `llm` calls: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated",
        "NAME",
    ),
    Setting(
        "threshold",
        read_share,
        0.85,
        "lowest score that passes, 0 to 1, unless the test sets its own",
        "X",
        "float",
    ),
    Setting(
        "gate",
        one_of("point", "confident", "no-worse"),
        "point",
        "what must reach the threshold, unless the test sets its own: point (the score) or confident (the lower bound "
        "of the score); no-worse is point, and also fails a test that got worse than in the stored run",
        "GATE",
    ),
    Setting("task", read_text, None, "how answers are compared, unless the test sets its own task", "NAME"),
    Setting(
        "stop",
        one_of("certain", "sprt", "sequential", "never"),
        "certain",
        "when a test stops asking, unless it sets its own: certain (once its verdict cannot change), sprt or "
        "sequential (on statistical evidence), or never",
        "WHEN",
    ),
    Setting(
        "shrink",
        read_queries,
        60,
        "how many queries may be used to shrink the change that breaks a test, unless the test sets its own; off or 0: "
        "none",
        "N",
        "count",
    ),
    Setting(
        "controls",
        read_controls,
        1,
        "controls of a test that names none, to see that it can fail: 1; off, or 0: none",
        "N",
        "count",
    ),
    Setting(
        "queries",
        whole(1),
        200,
        "how many queries a test that searches (search=) may use, unless it sets its own",
        "N",
        "int",
    ),
    Setting(
        "pinned",
        one_of("warn", "fail"),
        "warn",
        "what happens when a known counterexample still breaks a test: warn or fail, unless the test sets its own",
        "EFFECT",
    ),
    *(
        Setting(
            f"{kind}_drift",
            one_of("fail", "warn", "ignore"),
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
    Setting("seed", read_seed, 0, "another seed gives other mutations", "N", "int"),
    Setting(
        "judge",
        read_text,
        None,
        "model that rates answers which the built-in comparisons cannot decide, unless the test sets its own: named "
        "like a target, or a judge of the project",
        "NAME",
    ),
    Setting(
        "judge_when",
        one_of("undecided", "always"),
        "undecided",
        "when the judge is asked: undecided (if the built-in comparisons cannot decide), or always (for all answers "
        "but equal ones and contradictions)",
        "WHEN",
    ),
    Setting(
        "judge_repeats",
        whole(1),
        1,
        "how often the judge rates the same answers; the median counts",
        "N",
        "int",
    ),
    Setting(
        "mode",
        one_of("auto", "record", "replay", "live"),
        "auto",
        "where answers come from: auto (stored answers, calls for the rest), record (calls, and writes recordings "
        "beside the tests), replay (recordings only) or live (always calls)",
        "MODE",
    ),
    Setting(
        "cache_dir",
        read_text,
        ".promptfuzz",
        "folder for stored answers, relative to the root of the project",
        "DIR",
    ),
    Setting(
        "store",
        read_text,
        None,
        "Redis server through which several machines share answers: redis://HOST:PORT/DATABASE?ttl=30d",
        "URL",
    ),
    Setting(
        "concurrency",
        whole(1),
        8,
        "how many calls are made at once: by one test, or by all declarative tests together",
        "N",
        "int",
    ),
    Setting(
        "lookahead",
        whole(0),
        20,
        "how many declarative tests after the running one may make their calls in advance",
        "N",
        "int",
    ),
    Setting(
        "speculate",
        read_switch,
        True,
        "on: make the calls of all mutations of a sync test at once, before its body asks; off: each waits for the "
        "body",
        "SWITCH",
    ),
    *(
        Setting(
            verdict,
            one_of(*EFFECTS),
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
        whole(1),
        1000,
        "how often the body of one test may run at most (hypothesis multiplies examples by trials)",
        "N",
        "int",
    ),
    Setting(
        "endpoints",
        read_endpoints,
        (),
        "addresses of models that the plugin does not know, one on each line: HOST/PATH (* stands for anything), then "
        "where the prompt and the answer stand in the JSON, such as text=$.prompt answer=$.output.text",
        "LINES",
    ),
    Setting(
        "allow_hosts",
        read_hosts,
        None,
        "hosts that replayed and simulated tests may connect to, such as a database: HOST, HOST:PORT or *.internal. "
        "Separate several with commas, or repeat the option",
        "HOSTS",
        several=True,
    ),
    Setting(
        "history",
        read_kept,
        200,
        "how many runs without a name are kept for later comparison; off or 0: none",
        "N",
        "count",
    ),
    Setting(
        "compare",
        read_text,
        None,
        "what the run is compared with: the NAME of a saved run, the PATH of a report or history file, a git REF, or "
        "last (the latest run of each test)",
        "BASE",
    ),
    Setting(
        "fail_on",
        read_conditions,
        None,
        "what else fails the run: 'score drop > 0.05', 'any new deviation', 'new brittle', 'drift', 'cost rise > 20%%' "
        "or 'gone'. Separate several with commas, or repeat the option",
        "EXPR",
        several=True,
    ),
    Setting(
        "report",
        read_text,
        None,
        "reports to write, such as json:PATH,html:PATH. Formats: json, html, md, gitlab, sarif, github (without a "
        "path), and those of other plugins",
        "FORMAT:PATH",
    ),
    *(Setting(each.name, each.read, each.default, each.help, each.metavar, each.type) for each in GIVEN),
    Setting(
        "model",
        read_text,
        None,
        "folder of the model that compares answers by meaning: exported by `promptfuzz model`, or of "
        "sentence-transformers",
        "DIR",
    ),
    Setting(
        "entailment",
        read_entailment,
        None,
        "folder of the model that tells whether one text follows from another, in ONNX or of sentence-transformers",
        "DIR",
    ),
    Setting(
        "embedder",
        read_embedder,
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
    read_mutations,
    8,
    "how many mutations, unless the test sets its own: a number, or numbers by operator or dimension: A=2,B=1",
    "N|A=2,B=1",
    "count",
)
OPERATORS = Setting(
    "operators",
    read_operators,
    None,
    "operators or dimensions that make the mutations, unless the test sets its own: A,B, or with weights A=2,B=1",
    "A,B",
)
CHOICES = (MUTATIONS, OPERATORS)
"""What ``plugin/choosing.py`` reads: nearer places win over farther ones between the two, too."""
