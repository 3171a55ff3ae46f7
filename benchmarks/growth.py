"""How processor time grows with the length of a text: `python benchmarks/growth.py`.

Floods (one unit, or a few, over and over: hostile or merely dull text) go through everything that a text goes through: it is
compared, redacted, read as a prompt and mutated, read as an answer, shown and stored. Each must take no more than a second
of processor time at 100,000 characters; the script ends with status 1 otherwise. Beside the time stands the exponent between a
quarter of the length and the whole: 1 is linear, 2 a square.

`--only compare --flood digits` does some, `--length 25000` a shorter text (and with it a shorter time).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import resource
import signal
import string
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz import Prompt, compare
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.files import encoded
from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput, parsed
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.spans import logic_spans, protected_spans
from pytest_promptfuzz.providers.bodies import parse_json
from pytest_promptfuzz.providers.formats import parse_answer, parse_stream
from pytest_promptfuzz.reporting.document import document
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.html.trials import beside
from pytest_promptfuzz.reporting.markdown import markdown_report
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.recordings.entries import CallPlace, RecordedExchange, from_line, to_line
from pytest_promptfuzz.storage.redaction import Redaction, hidden_in_stream
from pytest_promptfuzz.storage.secrets import hide_cut, secrets_in
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LENGTH = 100_000
MOST = 1.0
"""Seconds of processor time that 100,000 characters may take."""
_STOPPED = 4  # times as long, and a case is given up

PROSE = "Please read the message below and choose the most relevant label; do not guess. Keep it short.\n"
UNITS = [
    PROSE, "x", "a\n", "1 ", "1,", '"a ', '"a "b" "c" ', "{", "[{", '{"a":', "(", "<a ", "`", "$", "\\a ",
    "\\frac{", "a@", "://", "one-aa-", "a_", "A, ", "5 mg/ml/", "|a|\n|-|\n", "x = y ", "- a\n", "- a: b\n",
    "def f(", "SELECT ", "one of: ", "either a or ", "Answer A if ", "labels:\n- a\n", "分为a、", "'x ", "not ",
    "<document>\nA line of text.\n</document>\n",
    # Digits, points and signs.
    "1", "1.", ".", "1.1", "12:", "1/", "-1", "5%", "$5", "1e", "+1 ", "2024-01-01 ", "1, 2, 3 ", "9 am ", "twenty-one ", "٣", "half ",
    # Quotes, brackets, blanks.
    '"', "'", "''", "’", "“a” ", "n't ", "'s ", "(a)", "[", "]", ")", "[[a]]", "{{", "{a}", "{a} {b} ", "}", " ", "  \n", "\n", "\t", "\r\n", "\xa0",
    "\u200b", "\u2028", "\u0301", "\x1b[31m", "\0", "\ud800",
    # Keywords and marks of languages.
    "SELECT (", "SELECT a FROM b WHERE ", "AND ", "a, ", ",", ";", "--", "-", "/*", "*", "**", "_", "#", "# a\n", "1. a\n", "1. ", "> ", "|", "| a ",
    "<a>", "<a", "</", "<!--", "&amp;", "&", "```", "```\n", "~~~\n", "---\n", "===\n", "a: b\n", "a:\n  ", "\\", "\\n", "\\(", "$x$ ", "$$", "lambda x: ", "if a:\n ",
    "def f():\n return 1\n", "import a\n", "true, ", "null,", "[1,", '{"a": 1}, ', '{"a": 1}\n', '"a": ', "data: {}\n\n", "data: a\n", "\\u0041", "\\ud800",
    # What looks like a secret, an address, a name.
    "access_token:", "access_token: ", "api_key=", "bearer ", "Bearer\t", "sk-", "sk-a", "-sk-", "eyJ", "eyJa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "token is ", "AKIA", "secret:",
    "http://a.b/", "http://a.b/?a=b&", "a@b.c ", "a.", "a.b.", "www.", "A. ", "Mr. A ", "A B ", "B12 ", "a/", "a-", "a.py ", "v1.2 ", "ctrl+", "::", ":", "::error ", "##[", "...", "sk-a...",
    "yes ", "yes, no ", "I cannot ", "sorry, ", "never ", "if ", "unless ", "a or b, ", "from a to b ", "more than 5 ", "either ", "1st ", "March 5 ", "John Smith ", "日本", "日", "は", "是", "ا", "👍", "İ", "ß",
    "word ", "a ", "Word. ", "is it? ", "a.\n", "a\n\n", "positive ", "A) ", "(1) ", "• a\n", "Step 1: ", "Q: a\nA: b\n", "the the ",
]  # fmt: skip


def _base64(size: int) -> str:
    letters = string.ascii_letters + string.digits + "+/"
    return "".join(random.Random(size).choices(letters, k=size))


def _words(size: int) -> str:
    picked = random.Random(size)
    words = (
        "".join(picked.choices(string.ascii_lowercase, k=picked.randint(1, 9))) for _ in range(size // 4)
    )
    return " ".join(words)[:size]


def _mixed(size: int) -> str:
    picked = random.Random(size)
    return "".join(picked.choice(UNITS) for _ in range(size // 2))[:size]


def _nested_json(size: int) -> str:
    return json.dumps(
        [{"id": n, "name": f"name {n}", "tags": ["a", "b"], "at": None} for n in range(size // 60)]
    )


def _nested(opening: str, closing: str) -> Callable[[int], str]:
    def made(size: int) -> str:
        count = size // (len(opening) + len(closing))
        return opening * count + closing * count

    return made


def _lines(line: str) -> Callable[[int], str]:
    return lambda size: "\n".join(line.format(n=n) for n in range(size // len(line)))


OTHERS: dict[str, Callable[[int], str]] = {
    "base64": _base64,
    "random words": _words,
    "mixed": _mixed,
    "rows of JSON": _nested_json,
    "lines of JSON": _lines('{{"id": {n}, "name": "n{n}"}}'),
    "table": lambda size: "| a | b |\n|---|---|\n" + _lines("| {n} | name {n} |")(size),
    "CSV": lambda size: "id,name\n" + _lines("{n},name {n}")(size),
    "YAML": _lines("key{n}: value {n}"),
    "XML": lambda size: f"<a>{_lines('<b>{n}</b>')(size)}</a>",
    "numbered list": _lines("{n}. item {n}"),
    "numbered sentences": _lines("The order {n} has 5 parts."),
    "Python": _lines("def f{n}(x):\n    return x + {n}"),
    "SQL columns": lambda size: f"SELECT {', '.join(f'c{n}' for n in range(size // 7))} FROM t",
    "SQL conditions": lambda size: (
        "SELECT a FROM t WHERE " + " AND ".join(f"c{n} = {n}" for n in range(size // 15))
    ),
    "quoted ()": _nested("(", ")"),
    "nested []": _nested("[", "]"),
    "nested {}": _nested('{"a":', "}"),
    "nested <a>": _nested("<a>", "</a>"),
    "nested SELECT": _nested("SELECT (", ")"),
    "one JSON text": lambda size: json.dumps({"a": "x y " * (size // 4)}),
    "fence of JSON": lambda size: f"Here:\n```json\n{_nested_json(size)}\n```\nDone.",
    "labels": lambda size: ", ".join(f"#label{n}" for n in range(size // 10)),
}


def _of(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))


FLOODS: dict[str, Callable[[int], str]] = {**{repr(unit)[1:-1]: _of(unit) for unit in UNITS}, **OTHERS}
_REDACTION = Redaction(values=("hunter-and-two-of-them",))
_SHORT = "The answer is 42, and it was approved by John on 5 March 2024."


def _altered(text: str) -> str:
    """Another character in each place of a hundred."""
    letters = list(text)
    letters[50::100] = ["q" if each != "q" else "z" for each in letters[50::100]]
    return "".join(letters)


def _equal(text: str, **how: Any) -> None:
    found = compare(text, "".join([text[:10], text[10:]]), **how)
    if found.outcome != "equivalent":
        raise AssertionError(f"a text is {found.outcome} to itself: {found.explanation}")


def _inserted(text: str) -> str:
    return f"{text[: len(text) // 2]} not {text[len(text) // 2 :]}"


def _planned(text: str) -> None:
    for mutation in plan(text, 8).mutations:
        len(mutation.text)


def _prompt(text: str) -> None:
    protected_spans(text)
    logic_spans(text)
    prompt = Prompt(text)
    str(prompt)


def _chat(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    ).encode()


def _stream(text: str) -> str:
    pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
    events = [
        {"model": "m", "choices": [{"index": 0, "delta": {"content": each}, "finish_reason": None}]}
        for each in pieces
    ]
    return "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"


def _quietly(use: Callable[[Any], object], value: Any) -> None:
    with contextlib.suppress(PromptfuzzError, ValueError):
        use(value)


def _answered(text: str) -> None:
    path = "/v1/chat/completions"
    parse_answer(path, parse_json(_chat(text)))
    parse_stream(path, _stream(text).encode())
    _quietly(parse_json, text.encode("utf-8", "surrogatepass"))
    _quietly(lambda raw: parse_stream(path, raw), text.encode("utf-8", "surrogatepass"))


def _redacted(text: str) -> None:
    _REDACTION.text(text)
    _REDACTION.source(text)
    _REDACTION.spans(text)
    _REDACTION.json({"a": [text]})
    _REDACTION.url(f"http://a.b/{text[:2000]}")
    hide_cut(text, _REDACTION.values)


def _snapshot(text: str) -> bytes:
    one = Snapshot(
        "t", "pass", 1.0, 0.85, "m", "m", text, (SnapshotInput("0", "p", answers=(Sample(text),)),)
    )
    return encoded(one.to_json(), indent=2)


def _stored(text: str) -> None:
    place = Path("t.json")
    parsed(_snapshot(text).decode(), place)
    _quietly(lambda raw: parsed(raw, place), text)
    answer = StoredAnswer(
        "http://a.b/v1/chat/completions", {"m": text}, 200, "application/json", _chat(text).decode(), 1e9
    )
    from_line(to_line(RecordedExchange("t", CallPlace(0, 0), "k", answer)))
    _quietly(from_line, text.encode("utf-8", "surrogatepass"))


def _report(text: str, other: str) -> dict[str, Any]:
    from tests.reporting import handmade

    words = {"type": "AssertionError", "message": text, "traceback": text}
    trial = handmade.trial(
        1, outcome="deviation", response=other, explanation=text, failure=words, prompt=text,
        diff=[["=", text[: len(text) // 2]], ["-", text[:50]], ["+", other], ["=", text[len(text) // 2 :]]],
    )  # fmt: skip
    return {
        **handmade.report(trials=[trial], verdict="brittle", baseline=text, prompt=text),
        "outcome": "failed",
    }


def _page(text: str, form: Callable[[Any], str]) -> None:
    from tests.reporting.made_documents import run

    form(document(run(), [_report(text, _altered(text))]))


JOBS: dict[str, Callable[[str], object]] = {
    "compare with itself": _equal,
    "compare with itself as JSON": lambda text: _equal(text, task="json"),
    "compare with itself, one more blank": lambda text: compare(f"{text}.", f"{text} ."),
    "compare with one word more": lambda text: compare(text, _inserted(text)),
    "compare with other ends": lambda text: compare(f"Not {text} here", f"Yes {text} there"),
    "compare with a change in each line": lambda text: compare(text, _altered(text)),
    "compare with its half": lambda text: compare(text, text[: len(text) // 2]),
    "compare with a short answer": lambda text: (compare(text, _SHORT), compare(_SHORT, text)),
    "compare as JSON": lambda text: compare(text, _inserted(text), task="json"),
    "compare as SQL": lambda text: compare(text, _inserted(text), task="sql"),
    "compare as code": lambda text: compare(text, _inserted(text), task="code"),
    "compare labels": lambda text: compare(text, _inserted(text), task="classification"),
    "compare as another format": lambda text: compare(text, _inserted(text), relation="format"),
    "compare as another language": lambda text: compare(text, _inserted(text), relation="language"),
    "compare in JSON": lambda text: compare({"a": text, "b": [1]}, {"a": _inserted(text), "b": [1]}),
    "redact": _redacted,
    "redact a stream": lambda text: hidden_in_stream(_stream(text + " sk-abcdefghijklmnop"), _REDACTION),
    "redact a raw stream": lambda text: hidden_in_stream(text, _REDACTION),
    "look for secrets": lambda text: list(secrets_in([text])),
    "read a prompt": lambda text: _quietly(_prompt, text),
    "mutate": lambda text: _quietly(_planned, text),
    "read answers": _answered,
    "store": _stored,
    "show in a terminal": lambda text: render(
        failure_lines(_report(text, _altered(text))), width=80, color=True
    ),
    "show as HTML": lambda text: _page(text, html_report),
    "show as Markdown": lambda text: _page(text, markdown_report),
    "show word by word": lambda text: (beside(text, _altered(text)), safe(text)),
}


class TooLong(BaseException):
    pass


def _give_up(*_: object) -> None:
    raise TooLong


def seconds(job: Callable[[str], object], text: str, most: float) -> tuple[float, str]:
    """Processor time of a case, and what it raised; ``most`` where it took longer."""
    signal.signal(signal.SIGPROF, _give_up)
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, most)
    said = ""
    try:
        job(text)
    except TooLong:
        return most, ""
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:160]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begin, said


def cases(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for name in JOBS:
        for flood in FLOODS:
            if options.only in name and (options.flood is None or options.flood == flood):
                yield name, flood


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--length", type=int, default=LENGTH, help="characters of the longer text")
    parser.add_argument("--only", default="", help="what a job's name holds")
    parser.add_argument("--flood", help="the name of one flood")
    parser.add_argument("--dearest", type=int, default=2, help="how many are shown of each job")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    most = MOST * options.length / LENGTH
    for name, job in JOBS.items():  # what is loaded and compiled once is no growth
        if options.only in name:
            for flood in ("mixed", "rows of JSON", "numbered sentences", "1"):
                seconds(job, FLOODS[flood](1_000), 60)
    count = failed = 0
    for name, job in JOBS.items():
        floods = [flood for each, flood in cases(options) if each == name]
        found = []
        for flood in floods:
            long, said = seconds(job, FLOODS[flood](options.length), _STOPPED * most)
            if most < long < _STOPPED * most:  # another process may have had its part in it
                long = min(long, seconds(job, FLOODS[flood](options.length), _STOPPED * most)[0])
            found.append((long, flood, said))
        found.sort(reverse=True)
        bad = [row for row in found if row[0] > most or row[2]]
        count, failed = count + len(found), failed + len(bad)
        if found:
            print(f"{name}: the dearest of {len(found)} floods of {options.length:,} characters")
        for long, flood, said in bad or found[: options.dearest]:
            short = seconds(job, FLOODS[flood](options.length // 4), _STOPPED * most)[0]
            exponent = math.log(max(long, 1e-6) / max(short, 1e-6), 4)
            at_least = ">" if long >= _STOPPED * most else " "
            mark = said or ("TOO LONG" if long > most else "")
            print(
                f"  {at_least}{long * 1e3:8.1f} ms  exponent {exponent:5.2f}  {flood[:24]:24}  {mark}",
                flush=True,
            )
    print(f"{count} cases, {failed} of them too long or in error")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.exit(main())
