"""The reworded text in a model's answer: without fence, preamble, closing remark, tags or quotation marks."""

from __future__ import annotations

import re

_TAGGED = re.compile(r"<prompt>(.*?)</prompt>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"(?:\A|\n)[ \t]*```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```[ \t]*(?:\n|\Z)", re.DOTALL)
_SURE = (
    "sure|certainly|of course|absolutely|okay|ok|bien sûr|gerne|natürlich|claro|por supuesto|certo|natuurlijk"
)
_HERE = "here(?:'s|’s| is)|below is|this is|the|voici|hier ist|aquí (?:está|tienes)|ecco|aqui está|hier is"
_WHAT = "reword|re-?writ|re-?phras|paraphras|translat|version|reformul|traduc|traduz|übersetz|umformul|vertal|herschr"
# A first line that speaks about the text and ends in a colon: "Sure, here is a reworded version:". "Here is the text:"
# is no such line: a prompt may begin with it.
_PREAMBLE = re.compile(
    rf"\A(?:(?:{_SURE})\b[^\n]{{0,160}}|(?:{_HERE})\b[^\n:]{{0,80}}(?:{_WHAT})[^\n]{{0,80}}):[ \t]*(?:\n\s*|\Z)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A\**(?:(?:reworded|rewritten|paraphrased|translated|new|revised)\s+(?:prompt|text|version)"
    r"|paraphrase|rewording|translation)\**:\**[ \t]*\n*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\n\s*\n(?:let me know|i hope|i've|i have|i kept|feel free|please let me|note:|note that i|\(note|this (?:version"
    r"|rewording|paraphrase|translation))[^\n]*\s*\Z",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'", "„": "“"}


def reworded(answer: str, original: str) -> str:
    r"""What of an answer is the reworded text, without white space at its ends; may be empty.

    Only what the original does not have itself is taken off: a prompt in a code fence keeps its fence.

    >>> reworded("Sure, here it is:\n\nSort the mail.", "Classify the mail.")
    'Sort the mail.'
    """
    text = answer.replace("\r\n", "\n").strip()
    tagged = _TAGGED.search(text)
    if tagged and "<prompt>" not in original.lower():
        text = tagged[1].strip()
    if "```" in text and "```" not in original:
        fenced = _FENCED.findall(text)
        if len(fenced) == 1:
            text = fenced[0].strip()
    if not _PREAMBLE.match(original):
        text = _PREAMBLE.sub("", text, count=1)
    if not _LABEL.match(original):
        text = _LABEL.sub("", text, count=1)
    if not _REMARK.search(original):
        text = _REMARK.sub("", text, count=1).strip()
    close = _QUOTES.get(text[:1])
    if close and len(text) > 1 and text.endswith(close) and original[:1] != text[:1]:
        inner = text[1:-1]
        if text[0] not in inner and close not in inner:
            text = inner.strip()
    if "\r\n" in original and "\n" not in original.replace("\r\n", ""):
        text = text.replace("\n", "\r\n")
    return text
