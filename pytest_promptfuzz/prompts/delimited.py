"""Spans between delimiters: slots, tags, placeholders, quotes, code, marked-up mathematics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found

# Every repetition is bounded or stops at the delimiter that opened it, so that a flood of openers costs linear
# time. A quotation of several lines stops at a blank line.
_DELIMITED = expression(
    r"""
      (?P<code>
          ```.*?(?:```|\Z) | ~~~(?=[\w\s]).*?(?:~~~|\Z)
        | ``(?!`)[^`\n]{1,400}``(?!`) | `[^`\n]{1,400}`
      )
    | (?P<quote>
          \"\"\"(?!\").{1,4000}?\"\"\"
        | "(?=\S)(?:[^"\n]|(?<=\s)"(?=\w)[^"\n]{1,200}(?<=\S)"(?=[\s.,;!?])){1,1000}(?<=\S)"(?!\w)
        | "(?=\S)(?:[^"\n]|\n(?![ \t\r]{0,80}\n)){1,1000}"
        | “(?:[^“”\n]|\n(?![ \t\r]{0,80}\n)){1,1000}[”“]
        | „(?:[^„“”\n]|\n(?![ \t\r]{0,80}\n)){1,1000}[“”]
        | «(?:[^«»\n]|\n(?![ \t\r]{0,80}\n)){1,1000}» | ‹[^‹›\n]{1,400}›
        | 「[^「」]{1,1000}」 | 『[^『』]{1,1000}』 | 《[^《》]{1,400}》 | ＂[^＂\n]{1,1000}＂
        | '(?<![\w'’]')(?=[^\s'])(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?![\w'])
        | ‘(?=\S)(?:[^‘’\n]|(?<=\w)’(?=\w)){1,300}(?<=\S)’(?!\w)
      )
    | (?P<slot>
          \{\{\{[^{}\n]{1,200}\}\}\} | \{\{[^{}\n]{1,200}\}\}
        | \{%[^\n]{1,200}?%\} | \{\#[^\n]{1,200}?\#\}
        | \$\{[^{}\n]{1,100}\} | \{[^{}\n"':,]{0,80}(?:[:!][^{}\n"']{0,40})?\}
        | %\(\w{1,80}\)[-#0\ +]{0,4}\d{0,4}(?:\.\d{1,3})?[diouxXeEfFgGcrsa] | %[sd](?<!\w%[sd])(?!\w)
        | \[\[[^\[\]\n]{1,80}\]\]
      )
    | (?P<math>
          \$\$[^$]{1,1000}\$\$ | \$(?=[^\s$])[^$\n]{1,300}(?<=\S)\$(?!\w)
        | \\\([^\n]{1,400}?\\\) | \\\[.{1,400}?\\\]
      )
    | (?P<name>\$[^\W\d]\w{0,80})
    | (?P<tag><(?:/?[^\W\d_]|!--|[|!?])[^<>\n]{0,200}>)
    | (?P<placeholder>
          \[(?:[^\W\d_][\w.-]{0,60}|[A-Z0-9][A-Z0-9\ _/'’&,:.-]{0,80})\](?!\()
        | \[(?i:insert|your|enter|add|fill|put|company|customer|user|todo|placeholder)\b[^\[\]\n]{0,80}\]
        | \[[\d\s,;–-]{1,40}\]
      )
    | (?P<url>\]\([^()\s]{1,500}\))
    | (?P<escape>
          \\[^\W\d_]{1,40}(?:\{[^{}\n]{0,100}\}){0,4}
          (?:[ ]?(?:\\(?:[a-zA-Z]{1,40}|[,;:!\ ])|[_^{}()\[\]+=*/|<>0-9-]|[.,](?=\d)
             |(?<![a-zA-Z])d?[a-zA-Z](?![a-zA-Z]))){0,80}
      )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {"name": "slot", "escape": "code"}
_OPENER = expression(r"[`~\"“„«‹「『《＂'‘{%$\[\]\\<]")


def delimited_spans(text: str) -> list[Found]:
    """Slots, tags, placeholders, quotes, code and mathematics between delimiters.

    An apostrophe is not a quote.
    """
    found: list[Found] = []
    position = 0
    # The search for an opener is many times faster than trying the large pattern at every character.
    while (opener := _OPENER.search(text, position)) is not None:
        match = _DELIMITED.match(text, opener.start())
        if match is None:
            position = opener.end()
            continue
        position = match.end()
        kind = match.lastgroup or ""
        found.append((match.start(), position, _KINDS.get(kind, kind)))
    return found
