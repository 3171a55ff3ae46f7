"""What a model could answer to have a report do something on a host of code."""

from __future__ import annotations

from typing import Any

HOSTILE = [
    "<script>alert(1)</script><img src=https://evil.example/beacon.png onerror=alert(1)>",
    "![beacon](https://evil.example/b.png) [click](https://evil.example) <https://evil.example>",
    "www.evil.example https://evil.example/x mailto:a@evil.example someone@evil.example",
    "@octocat @org/team please review #123 GH-45 octo/repo#6 4e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5 :tada:",
    "a | b\n| --- | --- |\n| c | d |",
    "```\n</details>\n```\n# heading\n- item\n> quote",
    "`````` six ticks `a` ``b``",
    "~~~\ntilde fence\n~~~",
    "</details></summary><details open><summary>mine</summary>\n\n**bold**",
    "::error file=a.py,line=1::you lose\n::set-output name=verdict::passed\n##[add-mask]a\n##vso[task.complete]",
    "/close\n/approve\n/merge",
    "$x^2$ $$\n\\frac{1}{2}\n$$ $`y`$",
    "\u202eevil\u202c \x1b[31mred\x1b[0m \x00 \ud800 a\u200bb \x9b1A",
    "--> <!-- comment --> ]]> <![CDATA[",
    "[ref]: https://evil.example 'title'\n[ref]",
    "\\`not a tick\\` \\| pipe after a backslash",
    "    indented code\n\ttabbed",
    "&lt;b&gt; &#96;&#96;&#96; &commat;octocat",
    "\r\nHTTP/1.1 200 OK\r\n",
    "* * *\n***\n---\n===\n",
    "1. first\n2) second",
    "ends with a tick `",
    "` begins with one",
    "",
    "   ",
]


def with_text(document: Any, text: str) -> Any:
    """The document with the text in every place that a model, a test or a target's name could fill."""
    for test in document["tests"]:
        test |= {
            "test": f"tests/test_it.py::test_x[{text}]",
            "explanation": text,
            "notes": [text],
            "model": text,
        }
        test |= {"target": text, "baseline": text, "prompt": text, "inputs": [text for _ in test["inputs"]]}
        for trial in test["trials"]:
            trial |= {
                "response": text,
                "baseline": text,
                "explanation": text,
                "operators": [text],
                "prompt": text,
            }
            trial |= {"diff": [["=", text], ["-", text], ["+", f"{text}{text}"], ["=", text]], "id": text}
            trial |= {"failure": {"type": text, "message": text, "traceback": text}, "reproduce": text}
            if trial["error"]:
                trial["error"] |= {"kind": text, "message": text}
        test["drift"] = [
            {
                "kind": "model",
                "policy": "warn",
                "message": text,
                "before": text,
                "after": text,
                "case": 0,
                "p": None,
            }
        ]
        for each in test["counterexamples"]:
            each |= {"failure": text, "diff": [["-", text], ["+", "x"]], "baseline": text, "answer": text}
    document["unjudged"] = [{"test": text, "outcome": "error", "message": text, "location": None}]
    document["warnings"] = [text]
    document["run"] |= {"mode": text, "commit": text, "version": text, "name": text, "branch": text}
    change = {
        "test": document["tests"][0]["test"],
        "target": document["tests"][0]["target"],
        "status": "worse",
        "verdict_before": "pass",
        "verdict": "brittle",
        "score_before": 1.0,
        "score": 0.5,
        "difference": -0.5,
        "pairs": 8,
        "worse": 4,
        "better": 0,
        "p": 0.01,
        "adjusted_p": 0.02,
        "new_deviations": [text],
        "mended": [],
        "prompt_changed": False,
        "baseline": "same",
        "model_before": text,
        "model": f"{text}!",
        "cost_before": None,
        "cost": None,
        "explanation": text,
    }
    # Of a newer version: the reports of older ones have neither.
    document["tests"][0]["accepted"] = {"reason": text, "until": text, "status": "accepted"}
    answer = {
        "test": change["test"],
        "target": text,
        "input": text,
        "finding": "changed",
        "before": text,
        "after": f"{text}!",
        "diff": [["=", text], ["-", text], ["+", f"{text}{text}"], ["=", text]],
        "reason": text,
        "explanation": text,
        "prompt_changed": True,
        "model_before": text,
        "model": f"{text}!",
    }
    apart = {**answer, "diff": [["-", text], ["+", f"{text}{text}"]], "finding": "cannot tell"}
    gone = {**change, "test": text, "status": "gone", "verdict_before": text, "difference": None}
    base = {"label": text, "kind": "ref", "run": text, "started": text, "commit": text, "branch": text}
    document["changes"] = {
        "base": base,
        "tests": [change, gone],
        "conditions": [{"expression": text, "tests": [change["test"], text]}],
        "answers": [answer, apart, {**answer, "finding": "not compared"}],
    }
    return document
