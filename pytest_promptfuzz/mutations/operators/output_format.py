"""Operators that ask for the same answer in another format: JSON, YAML, XML, HTML, Markdown or text.

A format that the prompt asks for is replaced where a closed set of phrasings asks for it, and with it the structure
that the prompt shows; where it asks for none, a sentence is added after the instructions. A prompt that may end up
asking for two formats is left alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.mutations.analysis.answer_format import (
    formed,
    instructions_end,
    outlined,
    repeats_fields,
    under_ban,
    words_of,
)
from pytest_promptfuzz.mutations.analysis.answer_shape import (
    as_html,
    as_markdown,
    as_xml,
    as_yaml,
    in_words,
    points_of,
    shown_answers,
)
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.answer_shape import Shape, ShownAnswer
    from pytest_promptfuzz.mutations.analysis.draft import Draft, Sentence
    from pytest_promptfuzz.randomness import Rng


class _FormatName(NamedTuple):
    """How a format is named: alone, as one thing with keys, as a list, as one thing of any kind."""

    name: str
    mapping: str
    items: str
    whole: str
    forms: tuple[str, ...]


_WORDINGS: dict[str, _FormatName] = when_used(
    lambda: dict(
        entries(
            "mutations/output_formats.tsv",
            lambda key, name, mapping, items, whole, *forms: (
                key,
                _FormatName(name, mapping, items, whole, forms),
            ),
        )
    )
)
_VERBS = ("Return", "Give", "Write", "Format")
_JOINTS = (", ", ", written ", ", given ")

_MENTION = expression(
    r"\b(?:jsonl?|ya?ml|xml|html|markdown|csv|tsv|latex|plain[- ]text)\b", re.IGNORECASE | re.ASCII
)
# What gives the answer a form of its own, or shows one; and code, which is no content that another format could hold.
_FORMED = expression(
    r"\b(?:tags?|schemas?|comma[- ]separated|per line|new ?lines?|separated by|delimited|double quotes|code blocks?"
    r"|fenced?|sql|quer(?:y|ies)|python|javascript|typescript|code|functions?|scripts?|regex"
    r"|regular expressions?|bash|shell|commands?|formulas?"
    r"|limericks?|sonnets?|lyrics|songs?|verses?|verbatim|word for word"
    r"|exact format|format below|this format|the (?:\w+ )?format:|following (?:\w+ )?(?:format|structure|template)"
    r"|for example|examples?|e\.g|poem|haiku|template|separate lines?|own line|(?:one|a|each|every|same|line by) line"
    r"|(?:of|in) the form)\b",
    re.IGNORECASE | re.ASCII,
)
# One of these stands in whatever the pattern finds; looking them up takes a tenth of the time.
_FORMED_WORDS = words(
    "tag tags schema schemas comma per new newline newlines separated delimited double code fence fenced sql query"
    " queries python javascript typescript function functions script scripts regular"
    " bash shell command commands formula formulas limerick"
    " limericks sonnet"
    " sonnets lyrics song songs verse verses regex verbatim word exact format following"
    " example examples e poem haiku template separate line form"
)
_MENTIONED = words("json jsonl yaml yml xml html markdown csv tsv latex plain")
_LISTY = expression(
    r"\b(?:bullets?|bulleted|numbered|tables?|tabular|headings?|subheadings?|bold|italics?|checklists?"
    r"|(?:check|tick) ?box(?:es)?|box(?:es)? (?:before|beside|in front of))\b",
    re.IGNORECASE | re.ASCII,
)
_SHOWN_JSON = expression(r"[{\[]\s*(?:\{\s*)?[\"'][^\"'\n]{0,60}[\"']\s*[:,\]]|```|\\boxed")
_ONLY = expression(
    r"\A(?:please |and )?(?:return|answer|respond|reply|output|print|give|write|provide|state)(?: me| us)?"
    r"(?: with| in)? (?:(?:only|just|exactly|nothing but|one|a single) |[^\n]* only.\Z)",
    re.IGNORECASE | re.ASCII,
)
# One letter or one emoji is no document.
_INDIVISIBLE = expression(
    r"\b(?:words?|letters?|digits?|numbers?|characters?|emojis?|symbols?|one|single|nothing|sentences?|yes|no|code)\b",
    re.IGNORECASE | re.ASCII,
)
_JOINED = expression(r"[,:;\n]|\b(?:and|if|when|unless|in)\b", re.IGNORECASE | re.ASCII)
_NOT_BEFORE_AS = words(
    "that which to function program script code from data input file convert parse parses read reads"
)
_ARTICLED = expression(r"an? ", re.IGNORECASE)
_NOUN = (
    "object|document|array|list|dictionary|mapping|format|output|string|response|table|page|fragment|snippet"
    "|structure"
)
# "JSON object" where "object" is a key as well, and so protected: half of the name cannot be replaced.
_HALF = expression(rf"[- ](?:{_NOUN})\b", re.IGNORECASE)
# "Return HTML with the keys ...": HTML by itself has none.
_WITH_KEYS = expression(
    r" (?:with|containing|that has|of) (?:[\w-]+ ){0,3}?(?:keys?|propert(?:y|ies))\b", re.IGNORECASE
)


@cache
def _requests() -> tuple[re.Pattern[str], ...]:
    """The phrasings that ask for a format; over text with protected parts blanked."""
    adjectives = (
        "single|valid|well-formed|raw|pure|strict|compact|flat|proper|correct|simple|nested|empty|only|just"
    )
    asked = (
        rf"(?P<np>(?P<article>an? |the )?(?P<adjectives>(?:(?:{adjectives}) )*)"
        r"(?P<name>json|yaml|xml|html|markdown|plain[- ]text)"
        rf"(?:[- ](?P<noun>{_NOUN}))?)(?!['’\w-])"
        r"(?=[ \t]*(?:[.,;!?\n)]|\Z|\x00"
        r"|(?:with|containing|that|whose|of|only|and nothing|where|without)\b))"
    )
    verbs = (
        "return|respond|reply|answer|output|give|provide|write|produce|generate|format|present|emit|print|express"
        "|deliver|structure|send|list|summari[sz]e|extract|show|report|render|describe|classify|explain"
    )
    opening = (
        r"(?:^|(?<=[.!?:;,]\s)|(?<=\n)|(?<=[-*]\s)|"
        + "|".join(
            rf"(?<=\b{word}\s)" for word in ("and", "please", "then", "always", "must", "should", "to")
        )
        + ")"
    )
    told = (
        "(?:your|the|all|each) (?:final )?"
        "(?:answers?|results?|outputs?|response|reply|summary|labels?|entities|fields|information|findings|items)"
        "|it|them|only|back|strictly|everything"
    )
    flags = re.IGNORECASE | re.ASCII
    return (
        re.compile(
            rf"{opening}(?:{verbs})(?: (?:only|just|me|exactly|nothing but|strictly))* {asked}", flags
        ),
        re.compile(
            rf"{opening}(?:{verbs})(?: (?:{told}))* (?:only |strictly )?(?:in|with|using) {asked}", flags
        ),
        re.compile(
            rf"\b(?:{verbs})(?P<gap>(?: [^\s.,;:!?]+){{0,10}}?) (?:only |strictly )?as {asked}", flags
        ),
        re.compile(
            rf"\b(?:your|the) (?:final )?(?:answer|response|output|reply|result)s?"
            r" (?:must|should|has to|needs to|shall) be"
            rf" (?:only |just |strictly )?(?:(?:formatted |given |written |returned )?(?:in|as) )?{asked}",
            flags,
        ),
        re.compile(
            rf"^[ \t]*(?:[-*] )?(?:(?:output|response|answer|reply) )?format: {asked}", flags | re.MULTILINE
        ),
    )


def _sites(draft: Draft) -> tuple[re.Match[str], ...] | None:
    """Where a format is asked for; ``None`` where the form of the answer is told in another way as well."""
    free = draft.free
    known = draft.once(words_of)
    if (
        (not known.isdisjoint(_FORMED_WORDS) and _FORMED.search(free))
        or _SHOWN_JSON.search(draft.text)
        or repeats_fields(draft)
    ):
        return None
    if any(draft.text[start:end].strip() for start, end in draft.walls):
        return None  # answers of an assistant show a format
    if known.isdisjoint(_MENTIONED) or _MENTION.search(draft.text) is None:
        return ()
    found: dict[int, re.Match[str]] = {}
    for pattern in _requests():
        for match in pattern.finditer(free):
            gap = match.groupdict().get("gap") or ""
            if _NOT_BEFORE_AS.isdisjoint(gap.lower().split()):
                found.setdefault(match.start("name"), match)
    mentions = [match.start() for match in _MENTION.finditer(draft.text)]
    asked = {match["name"].lower().replace("-", " ") for match in found.values()}
    if sorted(found) != mentions or len(asked) != 1:
        return None
    if any(match["noun"] is None and _HALF.match(draft.text, match.end("np")) for match in found.values()):
        return None
    return tuple(found[start] for start in mentions)


def _turned(match: re.Match[str], to: str, *, plain: bool) -> Edit:
    """One request turned to another format; ``plain`` drops the noun where it stands alone."""
    wording = _WORDINGS[to]
    noun = (match["noun"] or "").lower()
    article, adjectives = match["article"] or "", match["adjectives"]
    articled = _ARTICLED.match(article) is not None
    if noun in {"array", "list", "table"}:
        core = wording.items
    elif noun in {"format", "output", "string", "response"}:
        core = (
            wording.name if to == "text" and noun == "format" else f"{wording.name.replace(' ', '-')} {noun}"
        )
    elif noun in {"object", "dictionary", "mapping"}:
        core = wording.mapping
    elif noun or articled:
        core = wording.whole
    else:
        core = wording.name if plain else wording.whole
    if core == "plain text":
        # "a single valid JSON object": plain text is neither one nor valid.
        kept = [each for each in adjectives.split() if each.lower() in {"only", "just"}]
        return replace(*match.span("np"), " ".join([*kept, core]))
    if articled and not adjectives:
        article = article[0] + ("n " if core.startswith(("XML", "HTML")) else " ")
    return replace(*match.span("np"), f"{article}{adjectives}{core}")


def _asked(draft: Draft, rng: Rng, to: str) -> Iterator[list[Edit]]:
    shown = draft.once(shown_answers)
    if shown:
        if draft.is_free(*shown[0].lead) and not _named_elsewhere(draft, shown[0]):
            yield from _reshaped(draft, shown[0], to)
        return
    sites = draft.once(_known_sites)[0]
    if sites is None:
        return
    if to not in {"markdown", "html"} and _LISTY.search(_outside(draft, sites)):
        return
    if to != "markdown" and outlined(draft.text):
        return
    if sites:
        if _may_turn(draft, sites, to):
            yield [_turned(match, to, plain=True) for match in sites]
        return
    yield from _asked_anew(draft, rng, to)


def _may_turn(draft: Draft, sites: Sequence[re.Match[str]], to: str) -> bool:
    """Whether the format that a prompt names may become ``to``: another one, which can have the keys that are named."""
    if sites[0]["name"].lower().replace("-", " ") == _WORDINGS[to].name.lower():
        return False
    keyed = (match["noun"] is None and _WITH_KEYS.match(draft.text, match.end("np")) for match in sites)
    return to != "html" or not any(keyed)


def _asked_anew(draft: Draft, rng: Rng, to: str) -> Iterator[list[Edit]]:
    """A format is named where the prompt names none."""
    forms = _WORDINGS[to].forms
    only = _last_only(draft)
    at = only.end - 1 if only is not None and _calm(draft.free[only.start : only.end]) else None
    if to != "text" and draft.once(_closed):
        return
    if at is not None:
        for joint, form in rng.shuffled([(joint, form) for joint in _JOINTS for form in forms]):
            yield [insert(at, joint + form)]
        return
    place = instructions_end(draft)
    if place is None or under_ban(draft, place):
        return
    for verb, form in rng.shuffled([(verb, form) for verb in _VERBS for form in forms]):
        if verb == "Format" and form.endswith("format"):
            continue
        yield [place.added(f"{verb} the answer {form}.")]


def _known_sites(draft: Draft) -> tuple[tuple[re.Match[str], ...] | None]:
    # In a tuple, since what a draft computes once may not be None.
    return (_sites(draft),)


def _outside(draft: Draft, sites: tuple[re.Match[str], ...]) -> str:
    """The text without the requests themselves, of which "a Markdown table" may be one."""
    text, position, parts = draft.text, 0, []
    for match in sites:
        parts.append(text[position : match.start("np")])
        position = match.end("np")
    return " ".join([*parts, text[position:]])


def _last_only(draft: Draft) -> Sentence | None:
    """The last sentence that restricts the answer ("Return only the label.")."""
    for sentence in reversed(draft.sentences):
        if _ONLY.match(draft.free[sentence.start : sentence.end]):
            return sentence
    return None


def _calm(sentence: str) -> bool:
    """Whether a format can be put before the full stop of a sentence that restricts the answer."""
    return sentence[-1] in ".!" and _JOINED.search(sentence) is None


def _closed(draft: Draft) -> bool:
    """Whether the form of the answer leaves no room for a format, but for the sentence that one may be joined to."""
    only = _last_only(draft)
    if only is None:
        return formed(draft, draft.text)
    sentence = draft.free[only.start : only.end]
    if not _calm(sentence) or "\0" in sentence or _INDIVISIBLE.search(sentence):
        return True
    return formed(draft, f"{draft.text[: only.start]}{draft.text[only.end :]}")


# The structure that a prompt shows (``in the following JSON format: {...}``), shown in another format.


_LEAD_FORMAT = expression(
    r"\b(?:the|this) (?:following )?(?:json )?(?:format|structure|schema|form|object|template)(?: below)?\b",
    re.IGNORECASE,
)
_LEAD_JSON = expression(
    r"\b(?:an? )?(?P<name>json)(?P<rest>(?:[- ](?:object|document|format))?)\b", re.IGNORECASE
)
_LEAD_KEYS = expression(r"\b(?:json )?keys\b", re.IGNORECASE)
_VALUES_IN = expression(r"\bvalues in (?P<language>(?:[A-Z][a-z]+ ?){1,2})")
_OF_DATA = expression(r"[- ](?:schema|data|file|document|record|array|list)s?\b", re.IGNORECASE)
_ASKING = expression(
    r"\b(?:output|answers?|respond|response|reply|return|provide|formatted|result|valid|wrap|only)\b",
    re.IGNORECASE,
)
_FOLLOWING = expression(r"\bfollowing (?=format|structure|form)")
_SHOWN_AS: dict[str, Callable[[Shape], str]] = {
    "yaml": as_yaml,
    "xml": as_xml,
    "html": as_html,
    "markdown": as_markdown,
}
_HEADED = frozenset(["html", "markdown"])  # formats whose keys are headings


def _named_elsewhere(draft: Draft, shown: ShownAnswer) -> bool:
    """Whether another sentence may ask for a format; one that calls the input a JSON schema does not."""
    for match in _MENTION.finditer(draft.text):
        if shown.lead[0] <= match.start() < shown.block[1]:
            continue
        line = draft.text[draft.text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
        if _OF_DATA.match(draft.text, match.end()) is None or _ASKING.search(line):
            return True
    return False


def _reshaped(draft: Draft, shown: ShownAnswer, to: str) -> Iterator[list[Edit]]:
    """The structure in another format; as JSON, which it is in already, it is told in words."""
    lead = draft.text[slice(*shown.lead)]
    if to in _SHOWN_AS:
        block = _SHOWN_AS[to](shown.shape)
        if shown.fence or to == "markdown":
            fence = shown.fence or "```"
            tagged = draft.text[shown.block[0] + len(shown.fence)].isalpha() and shown.fence
            block = f"{fence}{to if tagged or not shown.fence else ''}\n{block}\n{fence}"
        yield [replace(*shown.lead, _turned_lead(lead, to)), replace(*shown.block, block)]
        return
    whole = (shown.lead[0], shown.block[1])
    if to == "text":
        told = _VALUES_IN.search(lead)
        where = f" in {told['language'].strip()}" if told is not None else ""
        yield [
            replace(*whole, f"Answer{where} in plain text without markup. Cover {points_of(shown.shape)}.")
        ]
        return
    asked, count = _LEAD_FORMAT.subn("JSON format", lead.rstrip(" :."), count=1)
    if count:
        yield [replace(*whole, f"{asked}. Use the keys {in_words(shown.shape)}.")]


def _turned_lead(lead: str, to: str) -> str:
    """What introduces a structure, with another format in it: named where it named JSON."""
    name = _WORDINGS[to].name
    if to in _HEADED:
        lead = _LEAD_KEYS.sub("headings", lead)

    def turned(match: re.Match[str]) -> str:
        article = ""
        if match[0][0] in "aA" and match[0][1] in "n ":
            article = f"{match[0][0]}{'n' if name[0] in 'XH' else ''} "
        rest = match["rest"].replace("object", "document")
        return f"{article}{name}{rest}"

    turned_lead, count = _LEAD_JSON.subn(turned, lead)
    if count:
        return turned_lead
    return _FOLLOWING.sub(f"following {name} ", lead, count=1)


def _format(to: str, name: str, before: str, after: str) -> Operator:
    """The operator that asks for one format."""

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        return _asked(draft, rng, to)

    return operator(
        f"format-{to}",
        dimension="format",
        severity=0.5,
        preserves="yes",
        relation="format",
        languages=("en",),
        sources=("S2",),
        version=2,
        touches=("code", "json"),
        summary=(
            f"The answer is asked for as {name}: instead of the format that the prompt asks for or shows, or in a"
            " sentence after its instructions."
        ),
        example=(before, after),
        trusted=True,
        default=False,
    )(propose)


format_json = _format("json", "JSON", "Name the city.", "Name the city. Return the answer as JSON.")
format_yaml = _format("yaml", "YAML", "List the names. Return JSON.", "List the names. Return YAML.")
format_xml = _format("xml", "XML", "Respond with a JSON object.", "Respond with an XML document.")
format_html = _format("html", "HTML", "List the names as a JSON array.", "List the names as an HTML list.")
format_markdown = _format(
    "markdown", "Markdown", "Name the city.", "Name the city. Write the answer in Markdown."
)
format_text = _format("text", "plain text", "Answer in JSON format.", "Answer in plain text.")
