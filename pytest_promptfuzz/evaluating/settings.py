"""The table of all settings: options, variables, ini values, keys of ``@robust`` and what their documentation says.

A new setting is a row here; then ``python docs/settings_tables.py`` writes it into docs/reference.md and into the
keys of ``robust``. Within each group the order is that of ``pytest --help``.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating import setting_kinds as kinds
from pytest_promptfuzz.evaluating.setting_kinds import choice, whole
from pytest_promptfuzz.files import parse_toml, read_text
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.evaluating.setting_kinds import SettingKind


SettingGroup = Literal[
    "prompt", "plan", "comparison", "verdict", "search", "history", "answers", "calls", "limits"
]
"""What a setting is about; ``prompt`` is also who is asked."""


GROUPS: dict[SettingGroup, str] = {
    "prompt": "The prompt and the model",
    "plan": "The mutations",
    "comparison": "How answers are compared",
    "verdict": "How a test is judged",
    "search": "Tests that search",
    "history": "What happened before",
    "answers": "Where answers come from",
    "calls": "How calls are made",
    "limits": "Limits and budget",
}
"""The headings of the groups, in the order of docs/reference.md and of ``pytest --help``."""


def shown_default(default: object) -> str:
    """A default as a person reads it; empty for none."""
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, float):
        return f"{default:g}"
    return "" if default in (None, ()) else str(default)


class Place(Flag):
    """Where a setting may stand."""

    OPTION = auto()
    ENVIRONMENT = auto()
    INI = auto()
    PYPROJECT = auto()
    """``[tool.promptfuzz]``."""
    MARK = auto()
    OVERRIDE = auto()
    """``--promptfuzz-override``."""
    RUN = OPTION | ENVIRONMENT | INI


_RUN, _MARK, _BOTH = Place.RUN, Place.MARK, Place.RUN | Place.MARK


class Setting(NamedTuple):
    """One setting.

    Attributes:
        name: In marks, and with a prefix in all other places.
        group: What it is about.
        kind: What it may be.
        default: What it is where nobody sets it.
        places: Where it may stand.
        help: What ``pytest --help`` says.
        metavar: How that shows its value.
        command: What the commands' ``--help`` says, where that is not ``help``; ``{default}`` is the default.
        docs: What docs/reference.md says of the option, where that is not ``help``.
        mark: What docs/reference.md says of the mark's key.
        shown: How docs/reference.md shows a default that says nothing by itself.
        several: Whether the option may be repeated; commas separate the values that stand in one place.
    """

    name: str
    group: SettingGroup
    kind: SettingKind
    default: Any
    places: Place
    help: str = ""
    metavar: str | None = None
    command: str = ""
    docs: str = ""
    mark: str = ""
    shown: str = ""
    several: bool = False

    @property
    def option(self) -> str:
        """On pytest's command line."""
        return "--promptfuzz-" + self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """On the command line of ``promptfuzz``."""
        return "--" + self.name.replace("_", "-")

    @property
    def ini(self) -> str:
        """In the ini file."""
        return "promptfuzz_" + self.name

    @property
    def environment(self) -> str:
        """In the environment."""
        return "PROMPTFUZZ_" + self.name.upper()

    @property
    def option_help(self) -> str:
        """What ``pytest --help`` says: the table's help, and the default."""
        default = expression(r"\[([^]]*)\]\([^)]*\)").sub(r"\1", self.default_text).replace("%", "%%")
        return f"{self.help} (default: {default})" if default else self.help

    @property
    def default_text(self) -> str:
        """The default as a person reads it, in Markdown; empty for none."""
        return self.shown or shown_default(self.default)

    @property
    def command_help(self) -> str:
        """What the commands' ``--help`` says."""
        return (self.command or self.help).replace("{default}", str(self.default))

    def check(self, value: Any, where: str) -> Any:
        """The value of a mark or of ``evaluate`` as it is used.

        Raises:
            UsageError: It is none; the message begins with ``where``.
        """
        if value is None and self.default is None:
            return None
        return self.kind.check(self.name, value, where)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "inputs",
        "prompt",
        kinds.SettingKind("Sequence[Any] | Mapping[str, Any] | str | os.PathLike[str]"),
        None,
        _MARK,
        metavar="FILE",
        command="put the rows of this file into the slots of the prompt: CSV, TSV, JSON Lines, JSON or a folder of "
        "text files; - is standard input (JSON Lines); values of a row replace those of --set",
        mark="of a [declarative test](declarative.md): what is put into the prompt's slots, a list of texts, a list of "
        "mappings of slot to value, a mapping of ID to either, or the path of a [data "
        "file](declarative.md#data-from-a-file), relative to the test's file",
    ),
    Setting(
        "expected",
        "prompt",
        kinds.SettingKind("Any"),
        None,
        _MARK,
        mark="the [gold answer](statistics.md#gold-answers), of the kind that the test returns (text, a label, JSON); "
        "of a declarative test one for all inputs, a list, or a mapping by ID; of a [data "
        'file](declarative.md#data-from-a-file) its column `expected`, or the one that `"column:NAME"` names',
    ),
    Setting(
        "mutate",
        "prompt",
        kinds.SettingKind("str"),
        "prompt",
        _MARK,
        mark='what is mutated: an argument of the test (`"prompt"`), a name in the application '
        '(`"app.prompts.TRIAGE"`, also `"app.PROMPTS.triage"` in a dict), or the messages of one role of an [unchanged '
        'application](unchanged-applications.md) (`"role:system"`, `"role:user"`). If the mark has a prompt as well, '
        "the "
        "test must take it as an argument",
    ),
    Setting(
        "call",
        "prompt",
        kinds.SettingKind("int"),
        None,
        _MARK,
        mark="with a role: the index of the call whose text is mutated",
    ),
    Setting(
        "match",
        "prompt",
        kinds.SettingKind("str | re.Pattern[str]"),
        None,
        _MARK,
        mark="with a role: a regular expression that the mutated text matches",
    ),
    Setting(
        "mutations",
        "plan",
        kinds.MUTATIONS,
        8,
        _BOTH | Place.PYPROJECT | Place.OVERRIDE,
        "how many mutations, unless the test sets its own: a number, or numbers by operator or dimension: A=2,B=1",
        "N|A=2,B=1",
        command="how many mutations, 1 to 10,000 ({default})",
        docs="how many mutations, or [of what kind](mutations.md#for-a-whole-project), unless the test sets its own",
        mark="how many, 1 to 10,000; or how many of what, see [choosing mutations](mutations.md)",
    ),
    Setting(
        "operators",
        "plan",
        kinds.OPERATORS,
        None,
        _BOTH | Place.PYPROJECT | Place.OVERRIDE,
        "operators or dimensions that make the mutations, unless the test sets its own: A,B, or with weights A=2,B=1",
        "A,B",
        command="operators or dimensions that make the mutations (`promptfuzz operators` lists them): A,B; with "
        "weights A=2,B=1; at 3 places A:3; at 20 %% of the places A:20%%; both in one mutation A+B",
        mark="operators or dimensions, by name or as objects, or a mapping of them to weights",
        shown="a mix",
    ),
    Setting(
        "part",
        "plan",
        kinds.PART,
        "template",
        _MARK,
        mark='which text of the prompt: `"template"`, `"input"` (what the test puts into its slots) or `"both"`; of '
        "chat messages also by role, see [parts of a prompt](#parts-of-a-prompt)",
    ),
    Setting(
        "target",
        "prompt",
        kinds.TARGET,
        None,
        _BOTH,
        "model that `llm` calls: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated",
        "NAME",
        docs="the model that `llm` calls: `openai:…`, `anthropic:…`, `compatible:…@URL`, `simulated`, see "
        "[targets](#targets)",
        mark="the model that `llm` calls; of a declarative test also a function of the application",
    ),
    Setting(
        "threshold",
        "verdict",
        kinds.EXACT_SHARE,
        0.85,
        _BOTH | Place.OVERRIDE,
        "lowest score that passes, 0 to 1, unless the test sets its own",
        "X",
        command="lowest score that passes, 0 to 1 ({default})",
        mark="lowest score that passes, 0 to 1, without rounding",
    ),
    Setting(
        "gate",
        "verdict",
        choice("point", "confident", "no-worse"),
        "point",
        _BOTH | Place.PYPROJECT | Place.OVERRIDE,
        "point: the score must reach the threshold; confident: its lower bound must; no-worse: as point, and the test "
        "must not be worse than in its snapshot; unless the test sets its own",
        "GATE",
        command="point: the score must reach the threshold; confident: its lower bound must; no-worse: as point, and "
        "the prompt must not be worse than in the run of --against ({default})",
        docs="[what must reach the threshold](statistics.md#gates): the score (`point`) or its lower bound "
        "(`confident`). `no-worse`: as `point`, and the test must not be worse than in its snapshot",
        mark='[what must reach the threshold](statistics.md#gates): `"point"`: the score; `"confident"`: its lower '
        'bound at 95 %; `"no-worse"`: as `"point"`, and the test must not be worse than in its snapshot',
    ),
    Setting(
        "task",
        "comparison",
        kinds.TASK,
        None,
        _BOTH | Place.OVERRIDE,
        "how answers are compared, unless the test sets its own task",
        "NAME",
        command="how answers are compared (by default inferred from the answer to the unmutated prompt)",
        docs="how answers are [compared](#tasks)",
        mark="how answers are compared, see [tasks](#tasks); also a [profile of the "
        "project](comparison.md#profiles-of-your-own)",
        shown="inferred",
    ),
    Setting(
        "stop",
        "plan",
        choice("certain", "sprt", "sequential", "never"),
        "certain",
        _BOTH,
        "when a test stops asking, unless it sets its own: certain (once its verdict cannot change), sprt or "
        "sequential (on statistical evidence), or never",
        "WHEN",
        command="when to stop asking: once the verdict is certain, on statistical evidence (sprt, sequential), or "
        "never ({default})",
        docs="when a test stops asking: as soon as its verdict is `certain`, `never` before the whole plan is asked, "
        "or [on evidence](statistics.md#stopping-early): `sprt`, `sequential`",
        mark='when the test [stops asking](statistics.md#stopping-early): `"certain"`, `"sprt"`, '
        '`"sequential"` or `"never"`',
    ),
    Setting(
        "shrink",
        "plan",
        kinds.COUNT_OR_OFF,
        60,
        _BOTH | Place.PYPROJECT,
        "most queries to shrink the change that breaks a test, unless the test sets its own; off or 0: none",
        "N",
        command="most queries to shrink the change that breaks the prompt; off: none ({default})",
        docs="most queries to [make the change that breaks a test smaller](shrinking.md#in-a-test-that-fails); `off`: "
        "none",
        mark="most queries to make the change that breaks a brittle test [as small as "
        'possible](shrinking.md#in-a-test-that-fails); 0 or `"off"`: none',
    ),
    Setting(
        "controls",
        "plan",
        kinds.CONTROLS,
        1,
        _BOTH,
        "1: add one control (a mutation that must change the answer) to each test that names none; off or 0: add none",
        "N",
        command="1: add a control, a mutation that must change the answer, unless --operators names one; off: none "
        "({default})",
        docs="one [control](mutations.md#controls-can-this-test-fail) for each test that names none; `off`: none",
        mark="1: one [control](mutations.md#controls-can-this-test-fail) shows that the answer can change, unless "
        '`mutations` or `operators` name one; 0 or `"off"`: none',
    ),
    Setting(
        "samples",
        "plan",
        whole(1, 100),
        1,
        _MARK,
        mark="how often each mutation is asked, 1 to 100; every answer is a trial; with several inputs, 2 or more show "
        "[where the variance comes from](statistics.md#where-the-variance-comes-from)",
    ),
    Setting(
        "baseline_runs",
        "plan",
        whole(1, 100),
        1,
        _MARK,
        mark="least number of times that the unmutated prompt is asked, 1 to 100; 2 or more show the [noise "
        "floor](statistics.md#noise-and-brittleness) from the start",
        shown="1, 3 when recording",
    ),
    Setting(
        "search",
        "search",
        kinds.SettingKind("bool | str | Method | Mapping[str, Any]"),
        False,
        _MARK,
        mark="search one change that breaks the test, instead of trying a plan: `True`, the name of a method, or a "
        "mapping, see [tests that search](tests-that-search.md)",
    ),
    Setting(
        "queries",
        "search",
        whole(1),
        200,
        _BOTH | Place.PYPROJECT,
        "most queries of a test with search=, unless the test sets its own",
        "N",
        command="most queries of each search, with those of the unmutated prompt ({default})",
        docs="most queries of a [test that searches](tests-that-search.md), unless the test sets its own",
        mark="most queries of the search, with those of the unmutated prompt",
    ),
    Setting(
        "objective",
        "search",
        kinds.SettingKind("str | Callable[[Any, Any], Any]"),
        "deviation",
        _MARK,
        command="what counts as a find: deviation (the answer changes), minor (it changes slightly), label, "
        "confidence, bleu, judge, or a measure below a value, such as 'rouge-l<0.5' ({default})",
        metavar="NAME",
        mark="what counts as a find, see [tests that search](tests-that-search.md)",
    ),
    Setting(
        "max_words",
        "search",
        kinds.SettingKind("int"),
        None,
        _MARK,
        command="most words that may change",
        metavar="N",
        mark="most words that may change",
        shown="no limit",
    ),
    Setting(
        "max_change_rate",
        "search",
        kinds.SettingKind("float"),
        1.0,
        _MARK,
        command="largest share of the words that may change, 0 to 1 (1)",
        metavar="X",
        mark="largest share of the words that may change, above 0 and up to 1",
    ),
    Setting(
        "pinned",
        "verdict",
        choice("warn", "fail"),
        "warn",
        _BOTH,
        "if a known counterexample still breaks a test: warn prints a note, fail makes the test brittle; unless the "
        "test sets its own",
        "EFFECT",
        docs="if a [known counterexample](counterexamples.md) still breaks a test: `warn` prints a note, `fail` makes "
        "the test brittle",
        mark="if a [known counterexample](counterexamples.md#replayed-first) still breaks the test: "
        '`"warn"` prints a note, `"fail"` makes the test brittle',
    ),
    Setting(
        "accept_brittle",
        "verdict",
        kinds.REASON,
        None,
        _MARK,
        mark="why the test [may be brittle for now](ci.md#accept-a-brittle-test-for-a-while); needs `until`",
        shown="not accepted",
    ),
    Setting(
        "until",
        "verdict",
        kinds.DAY,
        None,
        _MARK,
        mark='the last day on which the test may be brittle, such as `"2027-03-01"`',
    ),
    Setting(
        "model_drift",
        "verdict",
        kinds.DRIFT,
        "warn",
        _BOTH,
        "what happens when the answers to the same prompt differ from the snapshot: fail, warn or ignore, unless the "
        "test sets its own",
        "POLICY",
        docs="what happens when the answers to the same prompt differ from the [snapshot](snapshots.md#drift): `fail`, "
        "`warn` or `ignore`",
        mark="what happens when the answers to the same prompt differ from the [snapshot](snapshots.md#drift): "
        '`"fail"`, `"warn"` or `"ignore"`',
    ),
    Setting(
        "prompt_drift",
        "verdict",
        kinds.DRIFT,
        "warn",
        _BOTH,
        "what happens when the prompt differs from the snapshot: fail, warn or ignore, unless the test sets its own",
        "POLICY",
        docs="what happens when the prompt differs from the snapshot",
        mark="what happens when the prompt differs from the snapshot",
    ),
    Setting(
        "comparator_drift",
        "verdict",
        kinds.DRIFT,
        "warn",
        _BOTH,
        "what happens when answers are compared in another way than for the snapshot: fail, warn or ignore, unless the "
        "test sets its own",
        "POLICY",
        docs="what happens when answers are compared in another way than for the snapshot",
        mark="what happens when answers are compared in another way than for the snapshot",
    ),
    Setting(
        "seed",
        "plan",
        kinds.WHOLE,
        0,
        _BOTH | Place.OVERRIDE,
        "number that chooses the mutations: the same number gives the same mutations",
        "N",
        command="number that chooses the mutations: the same number gives the same mutations ({default})",
        mark="number that chooses the mutations: the same number gives the same mutations",
    ),
    Setting(
        "max_deviations",
        "verdict",
        whole(0),
        None,
        _MARK | Place.OVERRIDE,
        mark="most deviations of a test that is not brittle, whatever the score",
        shown="no limit",
    ),
    Setting(
        "profile",
        "comparison",
        kinds.PROFILE,
        None,
        _MARK,
        mark="a profile that [`profile_for`](comparison.md#profiles-of-your-own) returns, the name of a profile in "
        'pyproject.toml, or `"quirx"`, which compares as QuIRX does',
        shown="the task's",
    ),
    Setting(
        "equivalent_at",
        "comparison",
        kinds.SHARE,
        None,
        _MARK,
        mark="similarity from which answers are equivalent, 0 to 1",
        shown="the task's",
    ),
    Setting(
        "minor_at",
        "comparison",
        kinds.SHARE,
        None,
        _MARK,
        mark="similarity below which answers differ, 0 to 1",
        shown="the task's",
    ),
    Setting(
        "schema",
        "comparison",
        kinds.SCHEMA,
        None,
        _MARK,
        mark="the [JSON Schema](comparison.md#json-schema) that answers must match: a mapping, or the path of a JSON "
        "file, relative to the working folder",
    ),
    Setting(
        "compare",
        "comparison",
        kinds.FLAG,
        True,
        _MARK,
        mark="`False`: judge by the test's own assertions only",
    ),
    Setting(
        "ignore",
        "comparison",
        kinds.PATHS,
        (),
        _MARK,
        mark="JSON paths that are ignored when answers are compared, when stored answers are looked up, and when "
        "requests "
        'are [mutated](unchanged-applications.md): `"$.metadata.request_id"`, `["$.messages[*].content[1]"]`. A note '
        'names paths that match nothing. Steps are `.name`, `.*`, `[0]`, `[-1]`, `[*]` and `["any name"]`',
    ),
    Setting(
        "tiers",
        "comparison",
        kinds.TIERS,
        (),
        _MARK,
        mark="comparisons [of your own](judges.md): a list of objects, or of names that a hook or package registers",
    ),
    Setting(
        "guards",
        "comparison",
        kinds.GUARDS,
        (),
        _MARK,
        mark="guards [of your own](judges.md): a list of objects, or of names that a hook or package registers",
    ),
    Setting(
        "judge",
        "comparison",
        kinds.JUDGE,
        None,
        _BOTH,
        "model that rates answers which the built-in comparisons cannot decide, unless the test sets its own: named "
        "like a target, or a judge of the project",
        "NAME",
        command="model that rates answers which the built-in comparisons cannot decide (none)",
        docs="a model, or a judge of your own, that [rates answers](judges.md#a-judge) which the built-in comparisons "
        "cannot decide",
        mark="the model or judge that [rates answers](judges.md#a-judge) which the built-in comparisons cannot decide; "
        "`False`: none",
        shown="none",
    ),
    Setting(
        "judge_when",
        "comparison",
        choice("undecided", "always"),
        "undecided",
        _BOTH,
        "when the judge is asked: undecided (if the built-in comparisons cannot decide), or always (for all answers "
        "but equal ones and contradictions)",
        "WHEN",
        command="when the judge is asked: if the built-in comparisons cannot decide, or always ({default})",
        docs="`always`: the judge rates all answers except equal ones and contradictions",
        mark='`"always"`: the judge rates all answers except equal ones and contradictions',
    ),
    Setting(
        "judge_repeats",
        "comparison",
        whole(1, 15),
        1,
        _BOTH,
        "how often the judge rates the same answers; the median counts",
        "N",
        command="how often the judge rates the same answers; the median counts ({default})",
        mark="how often the judge rates the same answers, 1 to 15; the median counts",
    ),
    Setting(
        "judge_min_agreement",
        "comparison",
        kinds.SHARE,
        None,
        _BOTH,
        "refuse a judge that agrees less with people than this (Krippendorff's alpha, measured by promptfuzz judge "
        "agree), or was never measured",
        "ALPHA",
        command="refuse a judge that agrees less with people than this (Krippendorff's alpha), or was never measured "
        "(any)",
        docs="the run refuses a judge that [agrees less with people](judges.md#measure-a-judge) than this "
        "(Krippendorff's alpha), or was never measured",
        mark="a judge that [agrees less with people](judges.md#measure-a-judge) than this (Krippendorff's alpha), or "
        "was never measured, is refused",
        shown="any",
    ),
    Setting(
        "judge_agreement",
        "comparison",
        kinds.FILE_PATH,
        None,
        _BOTH,
        "file in which promptfuzz judge agree --save keeps how well judges agree with people",
        "FILE",
        command="file in which `promptfuzz judge agree --save` keeps how well judges agree with people "
        "(promptfuzz-judges.json, here or above)",
        mark="the file in which `promptfuzz judge agree --save` keeps [how well judges agree with "
        "people](judges.md#measure-a-judge)",
        shown="`promptfuzz-judges.json`, here or above",
    ),
    Setting(
        "quality",
        "comparison",
        kinds.MEASURES,
        (),
        _MARK,
        mark="[measures](judges.md#quality) by which the judge grades answers whose content changed",
    ),
    Setting(
        "parameters",
        "prompt",
        kinds.PARAMETERS,
        None,
        _MARK,
        mark='parameters of the requests that declarative tests and `llm` make, such as `{"temperature": 0}`; calls '
        "of `llm` may give others",
    ),
    Setting(
        "fixtures",
        "prompt",
        kinds.SettingKind("str"),
        "shared",
        _MARK,
        mark='`"fresh"`: set up function-scoped fixtures again for each run (sync tests)',
    ),
    Setting(
        "mode",
        "answers",
        choice("auto", "record", "record-missing", "replay", "live"),
        "auto",
        _RUN,
        "where answers come from: auto (stored answers, calls for the rest), record (calls, and writes recordings "
        "beside the tests), record-missing (calls for what is not recorded), replay (recordings only) or live (always "
        "calls)",
        "MODE",
        docs="`auto` uses stored answers and calls for the rest. `record` calls and writes [recordings](recording.md). "
        "`record-missing` calls for what is not recorded, and completes recordings. `replay` uses recordings only. "
        "`live` ignores what is stored",
        shown="auto, in CI [replay](recording.md#in-continuous-integration)",
    ),
    Setting(
        "cache_dir",
        "answers",
        kinds.TEXT,
        ".promptfuzz",
        _RUN,
        "folder of the local cache, relative to the root of the project",
        "DIR",
        command="folder of the local cache ({default})",
    ),
    Setting(
        "store",
        "answers",
        kinds.TEXT,
        None,
        _RUN,
        "Redis server through which several machines share answers: redis://HOST:PORT/DATABASE?ttl=30d",
        "URL",
        docs="[Redis server](teams.md#hosts) through which several machines share answers",
    ),
    Setting(
        "redact",
        "answers",
        kinds.LINES,
        (),
        Place.INI,
        "regular expressions of text that is never stored or shown, one on each line",
        docs="regular expressions of text that is [never stored or shown](recording.md#secrets), one on each line; the "
        "hook [`pytest_promptfuzz_redactors`](recording.md#personal-data) takes functions",
    ),
    Setting(
        "concurrency",
        "calls",
        whole(1),
        8,
        _RUN,
        "most calls at once: of one test, or of all declarative tests together",
        "N",
    ),
    Setting(
        "lookahead",
        "calls",
        whole(0),
        20,
        _RUN,
        "how many of the next declarative tests start their calls early",
        "N",
    ),
    Setting(
        "speculate",
        "calls",
        kinds.SWITCH,
        True,
        _RUN,
        "on: make the calls of all mutations of a sync test at once, before its body runs; off: one after the other",
        "SWITCH",
        docs="`on`: make the calls of all mutations of a sync test at once, [before its body runs](speculation.md); "
        "`off`: one after the other",
    ),
    Setting(
        "brittle",
        "verdict",
        kinds.EFFECT,
        "fail",
        _RUN,
        "outcome of a brittle test in pytest: fail, error, skip, xfail or pass",
        "EFFECT",
        docs="outcome of [a brittle test](#verdicts) in pytest: `fail`, `error`, `skip`, `xfail` or `pass`",
    ),
    Setting(
        "noisy",
        "verdict",
        kinds.EFFECT,
        "error",
        _RUN,
        "outcome of a noisy test in pytest: fail, error, skip, xfail or pass",
        "EFFECT",
        docs="outcome of a noisy test in pytest",
    ),
    Setting(
        "inconclusive",
        "verdict",
        kinds.EFFECT,
        "error",
        _RUN,
        "outcome of an inconclusive test in pytest: fail, error, skip, xfail or pass",
        "EFFECT",
        docs="outcome of an inconclusive test in pytest",
    ),
    Setting(
        "max_runs",
        "calls",
        whole(1),
        1000,
        _RUN,
        "most runs of the body of one test (hypothesis multiplies examples by trials)",
        "N",
    ),
    Setting(
        "endpoints",
        "prompt",
        kinds.ENDPOINTS,
        (),
        _RUN,
        "addresses of models that the plugin does not know, one on each line: HOST/PATH (* stands for anything), then "
        "where the prompt and the answer stand in the JSON, such as text=$.prompt answer=$.output.text",
        "LINES",
        docs="addresses of [models that the plugin does not know](unchanged-applications.md#other-protocols), one on "
        "each line",
    ),
    Setting(
        "allow_hosts",
        "prompt",
        kinds.HOSTS,
        None,
        _RUN,
        "hosts that replayed and simulated tests may connect to, such as a database: HOST, HOST:PORT or *.internal. "
        "Separate several with commas, or repeat the option",
        "HOSTS",
        docs="[hosts](unchanged-applications.md#what-is-not-followed) that replayed and simulated tests may reach "
        "beside this machine: `db.internal`, `db.internal:5432`, `*.internal`; several with commas",
        several=True,
    ),
    Setting(
        "history",
        "history",
        kinds.COUNT_OR_OFF,
        200,
        _RUN,
        "how many runs without a name to keep for later comparison; off or 0: none",
        "N",
        docs="how many runs without a name [are kept](history.md#the-files); `off`: none",
    ),
    Setting(
        "compare",
        "history",
        kinds.TEXT,
        None,
        _RUN,
        "what to compare the run with: the NAME of a saved run, the PATH of a report or history file, a git REF "
        "(REF... for the merge base with HEAD), or last (the latest run of each test)",
        "BASE",
        docs="[what the run is compared with](history.md): a saved run's name, a file, a git commit, a "
        "merge base (`origin/main...`), or `last`",
        shown="last",
    ),
    Setting(
        "compare_calls",
        "history",
        kinds.COUNT_OR_OFF,
        90,
        _RUN,
        "how many more calls a test may make to tell a drop from noise when it is lower than its base (all tests "
        "together: ten times as many); off or 0: none",
        "N",
        docs="how many more calls a test [may make to tell a drop from noise](history.md#asking-again), where "
        "`--promptfuzz-compare` names a base; all tests together ten times as many; `off`: none",
    ),
    Setting(
        "fail_on",
        "history",
        kinds.CONDITIONS,
        None,
        _RUN,
        "what else fails the run: 'score drop > 0.05', 'any new deviation', 'new brittle', 'drift', 'answer change', "
        "'cost rise > 20%%' or 'gone'. Separate several with commas, or repeat the option",
        "EXPR",
        docs="[what else fails the run](history.md#failing-a-run): `score drop > 0.05`, `any new deviation`, …",
        shown="none",
        several=True,
    ),
    Setting(
        "report",
        "history",
        kinds.TEXT,
        None,
        _RUN,
        "reports to write, such as json:PATH,html:PATH. Formats: json, html, md, gitlab, sarif, github (without a "
        "path), and those of other plugins",
        "FORMAT:PATH",
        docs="[reports](reports.md) of the run: `json:PATH,html:PATH`",
        shown="none",
    ),
    Setting(
        "attempts",
        "limits",
        whole(1),
        4,
        _RUN,
        "how often a failing call is tried in all, the first time included",
        "N",
    ),
    Setting(
        "max_wait",
        "limits",
        kinds.AMOUNT,
        60.0,
        _RUN,
        "how many seconds to wait for a provider that refuses or fails every call",
        "S",
    ),
    Setting(
        "rpm",
        "limits",
        whole(1),
        None,
        _RUN,
        "most requests a minute to each host and model",
        "N",
        shown="learned",
    ),
    Setting(
        "tpm",
        "limits",
        whole(1),
        None,
        _RUN,
        "most tokens a minute to each host and model",
        "N",
        shown="learned",
    ),
    Setting(
        "max_calls",
        "limits",
        whole(0),
        None,
        _RUN,
        "most calls to real models in the whole run; 0: stored answers only",
        "N",
        shown="no limit",
    ),
    Setting(
        "max_tokens",
        "limits",
        whole(0),
        None,
        _RUN,
        "most tokens of the whole run, input and output together",
        "N",
        shown="no limit",
    ),
    Setting(
        "max_cost",
        "limits",
        kinds.AMOUNT,
        None,
        _RUN,
        "most that the whole run may cost, in US dollars",
        "X",
        docs="most that the whole run may cost, in US dollars; needs [prices](limits.md#prices)",
        shown="no limit",
    ),
    Setting(
        "model",
        "comparison",
        kinds.MODEL,
        None,
        _RUN,
        "folder of the model that compares meaning (made by `promptfuzz model export`, or sentence-transformers)",
        "DIR",
        docs="folder of the [embedding model](comparison.md#meaning); a folder that does not exist is an error",
        shown="all-MiniLM-L6-v2",
    ),
    Setting(
        "entailment",
        "comparison",
        kinds.ENTAILMENT,
        None,
        _RUN,
        "folder of an entailment model (ONNX or sentence-transformers)",
        "DIR",
        command="folder of an entailment model (by default the installed one)",
        docs="folder of the [entailment model](comparison.md#entailment); a folder without a model is an error",
        shown="the installed one",
    ),
    Setting(
        "embedder",
        "comparison",
        kinds.EMBEDDER,
        None,
        _RUN,
        "provider of embeddings that compares answers by meaning, instead of a model on this machine: openai:MODEL or "
        "compatible:MODEL@URL",
        "NAME",
        command="provider of embeddings that compares answers by meaning: openai:MODEL or compatible:MODEL@URL (by "
        "default a model on this machine)",
        docs="[provider of embeddings](comparison.md#embeddings-of-a-provider) to use instead: "
        "`openai:text-embedding-3-small`",
        shown="none",
    ),
)


def _named(place: Place, *groups: SettingGroup) -> dict[str, Setting]:
    """The settings that may stand in a place, of some groups or of all, by name."""
    return {
        each.name: each for each in SETTINGS if place in each.places and (not groups or each.group in groups)
    }


MARK_KEYS = _named(Place.MARK)
"""What ``@robust`` takes."""
CONTRACT_KEYS = _named(Place.MARK, "plan", "comparison", "verdict")
"""What a test's ``Contract`` is made of."""
SEARCH_KEYS = _named(Place.MARK, "search")
"""How a test searches that is a search."""
CHOICES = (CONTRACT_KEYS["mutations"], CONTRACT_KEYS["operators"])
"""What is read together: both name operators, and the nearer place wins over the farther one between the two, too."""
RUN_SETTINGS = {name: each for name, each in _named(Place.RUN).items() if each not in CHOICES}
"""What else holds for the whole run."""
INI_ONLY = {name: each for name, each in _named(Place.INI).items() if Place.OPTION not in each.places}
RUN_KEYS = tuple(name for name in CONTRACT_KEYS if RUN_SETTINGS.get(name) is CONTRACT_KEYS[name])
"""The settings that a test's contract has from the run where its mark does not say."""
OVERRIDABLE = _named(Place.OVERRIDE)
"""What ``--promptfuzz-override`` takes."""
LIMITS = _named(Place.RUN, "limits")
"""What calls and their cost are limited by, in pytest and in the commands."""
PYPROJECT_KEYS = _named(Place.PYPROJECT)
"""What may stand in ``[tool.promptfuzz]`` beside its tables."""


# ``[tool.promptfuzz]`` of a project's pyproject.toml.


PROJECT_TABLES = ("limits", "prices", "profiles")
"""What it may hold beside settings."""
PROFILES = "[tool.promptfuzz.profiles]"
"""How messages name the table of profiles."""


def read_tool(root: Path) -> dict[str, Any]:
    """What stands there; empty where nothing does.

    Raises:
        UsageError: The file cannot be read, a key is unknown, or limits and prices are wrong.
    """
    file = root / "pyproject.toml"
    try:
        text = read_text(file)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from None
    if "promptfuzz" not in text:
        return {}
    try:
        tool = parse_toml(text).get("tool", {}).get("promptfuzz", {})
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    if not isinstance(tool, dict):
        raise UsageError(f"{file}: tool.promptfuzz = {tool!r:.80} is not a table. Write [tool.promptfuzz].")
    known = (*PYPROJECT_KEYS, *PROJECT_TABLES)
    for key in tool:
        if key not in known:
            raise UsageError(
                f"[tool.promptfuzz] in pyproject.toml: unknown key {key!r}. {nearest(key, known)}"
            )
    if tool.keys() & {"limits", "prices"}:
        from pytest_promptfuzz.running.limits.limits import rules_and_prices

        rules_and_prices(tool)
    return tool
