"""Which task the instructions name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.cues import (
    ANSWER,
    CLASSIFY,
    DETERMINERS,
    EXTRACT,
    NOUNS,
    OBJECTS,
    POLITE,
    SQL,
    SUMMARISE,
    VERBS,
    WEAK_VERBS,
    corrected,
)
from pytest_promptfuzz.targets.simulated.words import listed, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.targets.simulated.reading import Reading

STRONG, CLEAR, HINT = 4, 2, 1
QUERY_VERBS = frozenset(
    listed(
        """
        write generate create produce build give compose make draft convert turn select show
        list find get count
        """
    )
)
SOURCES = (
    (SUMMARISE, STRONG, r"\bsum(?:s|ming|med)? (?:\w+ )?up\b|\btl;?\s?dr\b|\bboil(?:ed)? \w+ down\b|\bin a nutshell\b"),
    (SUMMARISE, STRONG + 1, (r"\b(?:key|main|central|core|principal|chief|primary|essential|most important"
    r"|important) (?:points?|ideas?|takeaways?|messages?"
                            r"|findings?|insights?)\b")),
    (SUMMARISE, STRONG + 1, (r"\b(?:write|suggest|generate|create|propose|give|make|come up with|think up|devise"
    r"|invent|craft|produce|draft|compose|provide)\b.{0,40}"
                            r"\b(?:headline|title|subject line)\b")),
    (SUMMARISE, STRONG, (r"\b(?:write|give|provide|create|produce|make|prepare|generate|explain|tell|state"
    r"|describe|share"
                        r"|compose)\b.{0,40}\b(?:summar|overview|synopsis|gist|recap|abstract|digest)")),
    (SQL, STRONG + 1, (r"\b(?:sql|postgres(?:ql)?|mysql|sqlite|mariadb|bigquery) (?:query|queries|statements?"
    r"|code)\b")),
    (SUMMARISE, STRONG, (r"\bwhat(?: is| are|'s) (?:this|the|that) (?:\w+ )?(?:text|article|passage|document"
    r"|email|e-mail|report|story|paper|thread) about\b"
                        r"|\b(?:turn|boil|make|convert|reduce)\b.{0,40}\b(?:summary|shorter|brief|overview|synopsis|digest|recap)\b")),
    (SQL, STRONG, (r"\b(?:write|generate|create|produce|build|give|compose|convert|turn"
                  r"|translate)\b.{0,60}\bsql\b")),
    (SQL, STRONG, r"\b(?:write|generate|create|build)\b.{0,30}\b(?:select|database) (?:query|statement)\b"),
    (SQL, STRONG, r"\b(?:write|generate|create|compose)\b.{0,20}\bquery\b"),
    (EXTRACT, STRONG, r"\b(?:turn|convert|transform|parse|structure|format)\b.{0,40}\b(?:in)?to (?:\w+ ){0,2}json\b"),
    (EXTRACT, STRONG, (r"\bpull(?:ed)? (?:\w+ ){0,4}(?:out|from)\b|\bfill(?:ed)? (?:in|out)\b"
    r"|\bfill (?:\w+ ){0,3}(?:json|fields?|form|template|object)\b|\bfind (?:all|every|each)\b")),
    (CLASSIFY, STRONG, (r"\b(?:which|what) (?:of (?:the|these) )?(?:\w+ )?(?:category|label|class|topic"
                        r"|sentiment|team|queue|"
     r"department|language|intent|emotion|tone|priority)\b")),
    (CLASSIFY, STRONG, (r"\b(?:put|place|file|sort|route|assign|bucket) (?:\w+ ){0,4}(?:into|in|to"
                        r"|under)\b.{0,30}"
     r"\b(?:categor|class|label|bucket|queue|team|department|group|topic|one of)")),
    (CLASSIFY, CLEAR, r"\bone of\b|\beither\b|\bwhether\b|\byes or no\b|\btrue or false\b"),
    (ANSWER, CLEAR, (r"\b(?:using|based on|from|given) (?:\w+ ){0,3}(?:context|passage|document|article"
                    r"|text)\b")),
)  # fmt: skip
TABLES = re.compile(r"\bcreate\s+table\b", re.IGNORECASE)
GRADED = re.compile(r"\b(?:stars?|scale|rating|score)\b", re.IGNORECASE)
PHRASES = tuple((task, points, re.compile(source)) for task, points, source in SOURCES)
ANY_VERB = frozenset().union(*VERBS.values())
NEGATED = re.compile(r"\b(?:do not|don't|never|without|avoid|not)\s+(?:\w+ing\s+|to\s+)?(?:\w+\s+)?$")


def scores(sentence: str) -> Mapping[str, int]:
    """How strongly one instruction names each task; a forbidden task (*do not summarise*) is not named."""
    if len(sentence) > LONGEST:
        return _scores(sentence)
    return _cached(sentence)


LONGEST = 2_000
"""Characters of a sentence beyond which what was found is not remembered."""


@lru_cache(maxsize=2048)
def _cached(sentence: str) -> Mapping[str, int]:
    return _scores(sentence)


def _scores(sentence: str) -> Mapping[str, int]:
    lower = " ".join(corrected(word) for word in words(sentence))
    found: dict[str, int] = {}
    tokens = lower.split()
    nouns = {task: sum(word in known for word in tokens) for task, known in NOUNS.items()}
    for index, word in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        if word not in ANY_VERB or NEGATED.search(" ".join(tokens[max(0, index - 3) : index]) + " "):
            continue
        for task, known in VERBS.items():
            if word not in known:
                continue
            leads = all(each in POLITE for each in tokens[:index]) or before in {
                "to",
                "and",
                "then",
                "must",
                "should",
                "that",
                "who",
                "which",
            }
            if before in DETERMINERS - {"that"} or (
                before and not leads and word in WEAK_VERBS.get(task, ())
            ):
                points = HINT
            elif word in WEAK_VERBS.get(task, ()):
                near_object = any(each in OBJECTS for each in tokens[index + 1 :])
                points = STRONG if nouns[task] else CLEAR if near_object and leads else HINT
            else:
                points = STRONG
            found[task] = max(found.get(task, 0), points)
    for task, count in nouns.items():
        if count:
            found[task] = found.get(task, 0) + HINT
    text = sentence.lower()
    for task, points, pattern in PHRASES:
        match = pattern.search(text) or (text != lower and pattern.search(lower)) or None
        if match and not NEGATED.search(text[max(0, match.start() - 60) : match.start()]):
            found[task] = max(found.get(task, 0), points)
    if "sql" in tokens and (QUERY_VERBS & set(tokens) or "query" in tokens):
        found[SQL] = STRONG + 1
    elif found.get(SQL, 0) < STRONG:
        found.pop(SQL, None) if "sql" not in tokens else None
    return found


def task_of(reading: Reading, *, labels: bool, fields: bool) -> str | None:
    """The task to do, or ``None`` if no cue is recognised.

    Of two tasks that are both clearly named in different sentences, the last one wins. Where none is clearly named,
    the hints are added up, together with a label list or a list of fields found in the prompt.

    Args:
        reading: What was asked.
        labels: Whether a list of labels was found.
        fields: Whether names of fields were found.
    """
    total: dict[str, int] = {}
    last: str | None = None
    for sentence in reading.instructions:
        found = scores(sentence)
        if found:
            best = max(found, key=lambda task: found[task])
            tied = [task for task in found if found[task] == found[best]]
            if found[best] >= STRONG and not (best == CLASSIFY and not labels and EXTRACT in tied and fields):
                last = SQL if SQL in tied else best
            for task, points in found.items():
                total[task] = total.get(task, 0) + points
    if last == ANSWER and labels and not reading.question:
        return CLASSIFY
    if last in {EXTRACT, ANSWER, None} | (
        {CLASSIFY} if TABLES.search(reading.prose) else set()
    ) and "sql" in words(reading.prose):
        return SQL
    if last is not None:
        if last == EXTRACT and labels and not reading.shapes and GRADED.search(reading.prose):
            return CLASSIFY
        if last == EXTRACT and labels and not fields and total.get(CLASSIFY, 0) >= STRONG:
            return CLASSIFY
        return last
    if labels:
        total[CLASSIFY] = total.get(CLASSIFY, 0) + CLEAR
    if fields and (EXTRACT in total or (reading.shapes and not labels)):
        total[EXTRACT] = total.get(EXTRACT, 0) + (CLEAR if reading.shapes and not labels else HINT)
    if reading.question and reading.data:
        total[ANSWER] = total.get(ANSWER, 0) + CLEAR
    if reading.examples:
        total[CLASSIFY] = total.get(CLASSIFY, 0) + CLEAR
    if fields and reading.data and not labels and not any(points >= CLEAR for points in total.values()):
        return EXTRACT
    likeliest = max(total, key=lambda task: total[task], default=None)
    if likeliest == EXTRACT and labels and not reading.shapes:
        likeliest = CLASSIFY
    if likeliest == ANSWER and labels and not reading.question:
        likeliest = CLASSIFY
    return likeliest if likeliest is not None and total.get(likeliest, CLEAR) >= CLEAR else None


def names_task(sentence: str) -> bool:
    """Whether a sentence names a task clearly, by a verb or a phrase."""
    return any(points >= STRONG for points in scores(sentence).values())
