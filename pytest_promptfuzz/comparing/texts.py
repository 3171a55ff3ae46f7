"""`compare_texts`: cheap tiers first, guards before meaning; refusals, "none", yes and no."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import labels
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier, decided
from pytest_promptfuzz.comparing.guards import values
from pytest_promptfuzz.comparing.guards.pair import Finding, Pair
from pytest_promptfuzz.comparing.labels import declared
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.asides import declines, evades, introduction, read_asides
from pytest_promptfuzz.comparing.reading.text import NORMALISERS, Text, analyse, kept_apart
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.comparing.reading.words import canonical_words
from pytest_promptfuzz.comparing.shared_words import JUDGE, by_words, differs, likeness, rearranged, undecided
from pytest_promptfuzz.comparing.values import aliases
from pytest_promptfuzz.comparing.values.same_values import agreed
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.comparing.profiles import Profile


# What meaning can tell of two texts that no guard and no word decides.


_UNRELATED = 0.35
"""Cosine below which MiniLM holds even short answers to be about different things."""


def _unlike_part(pair: Pair, profile: Profile, semantic: Embedder) -> Observation | None:
    """The sentence of a longer text whose counterpart says less of the same than the text as a whole does."""
    if len(pair.a.sentences) <= 1 and len(pair.b.sentences) <= 1:
        return None
    from pytest_promptfuzz.comparing.meaning import cosine

    sides = [side for side in pair.sides if side.a.normalised != side.b.normalised]
    vectors = semantic.embed([text.clean for side in sides for text in (side.a, side.b)])
    for side, one, two in zip(sides, vectors[::2], vectors[1::2], strict=True):
        meaning = cosine(one, two)
        if meaning < profile.minor_at:
            return Observation("less-alike", side.a.clean, side.b.clean, meaning)
    return None


def _stake(pair: Pair, profile: Profile, semantic: Embedder) -> Observation | None:
    """Why two texts of one meaning may still not say the same; ``None`` where nothing speaks for that."""
    if "stakes" not in profile.guards:
        return None
    from pytest_promptfuzz.comparing.guards.qualifiers import at_stake

    return at_stake(pair) or _unlike_part(pair, profile, semantic)


def by_meaning(
    pair: Pair, profile: Profile, semantic: Embedder, found: list[Finding], tiers: tuple[Tier, ...]
) -> Comparison:
    """What an embedder says of two texts that no guard contradicts and no word decides.

    It may show that they are about different things, or that they mean the same where no guard doubts it and their
    words of meaning are not the same in another arrangement. It makes nothing minor.
    """
    from pytest_promptfuzz.comparing.meaning import cosine

    one, two = pair.a.clean, pair.b.clean
    first, second = semantic.embed([one, two])
    meaning = cosine(first, second)
    truncates = getattr(semantic, "truncates", None)
    cut = callable(truncates) and (truncates(one) or truncates(two))
    note = Observation("read-in-part") if cut else ""
    tiers += (Tier("semantic", meaning, note),)
    alike = likeness(pair)
    ending = Observation("in-brackets", note) if cut else ""
    same = meaning >= profile.equivalent_at and not (cut and alike < profile.equivalent_at)
    if same and not found and not rearranged(pair):
        stake = _stake(pair, profile, semantic)
        if not stake:
            same_meaning = Observation("same-meaning", meaning, ending)
            return Comparison("equivalent", meaning, "semantic", same_meaning, tiers)
        found = [Finding("stakes", "doubt", stake)]
        tiers += (Tier("guard:stakes", None, stake),)
    content = frozenset(pair.a.content), frozenset(pair.b.content)
    within = all(content) and (content[0] <= content[1] or content[1] <= content[0])
    short = pair.short and (within or meaning >= _UNRELATED)
    if meaning >= profile.minor_at or alike >= profile.words_minor_at or short:
        return undecided(pair, found, tiers, embeds=True)
    other = Observation("other-meaning", meaning, profile.minor_at, differs(pair, found), ending)
    return Comparison("deviation", meaning, "semantic", other, tiers)


# What kind of answer it is: a yes or a no, bare or under a condition.


_CLAUSE_END = expression(r"[.;!?]\s|,? (?:but|unless|except|however|although|though)\b")
_STATED = r"(?=\s*(?:[,.!;:–—-]|\Z)|\s+(?:you|it|the|this|that|we|they|i|he|she|there|sir|please)\b)"
_ANSWER = r"\A(?:answer:\s*)?"
_AGREES = "yeah|yep|yup|affirmative|absolutely|certainly|definitely|of course|sure|correct|true|ja|si|sí|oui"
_DENIES = (
    "no|nope|nah|negative|incorrect|false|(?:absolutely|certainly|definitely|of course) not"
    "|not at all|by no means|nein|non"
)
LABELS = word_set("negative incorrect false affirmative correct true")
"""What says yes or no to a question, and is a label elsewhere."""
_YES = expression(rf"{_ANSWER}(?:yes\b|(?:{_AGREES}){_STATED})", re.IGNORECASE)
_NO = expression(rf"{_ANSWER}(?:{_DENIES}){_STATED}", re.IGNORECASE)


def polarity(text: Text) -> int:
    """+1 where an answer opens with yes, -1 where it opens with no, 0 where with neither, or with both."""
    return 0 if _BOTH.match(text.clean) else _opening(text.clean[:24])


_LINK = r"\b[ ,]{0,2}(?:and|or|but)(?: also)?\b[ ,]{0,2}"
_BOTH = expression(rf"{_ANSWER}(?:yes{_LINK}no|no{_LINK}yes)(?=\s*(?:[,.!;:–—-]|\Z))", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _opening(text: str) -> int:
    if _NO.match(text):
        return -1
    return 1 if _YES.match(text) else 0


_CONDITION = expression(
    r"\b(?:only|unless|except|provided|providing|as long as|if|depends|depending)\b", re.IGNORECASE
)


def conditional(text: Text) -> bool:
    """Whether a yes or no holds under a condition: "Yes, but only on Sundays"."""
    return bool(_CONDITION.search(text.sentences[0] if text.sentences else ""))


_VERDICT = expression(
    r"\A(?:(?:the|this|that|your)\s+)?(?:statement|claim|assertion|sentence|answer|assumption|it|this|that)(?:\s+(?:above|given))?"
    r"(?:\s+is|['’]s|\s+would\s+be|\s+was)\s+(?P<not>not\s+)?(?:clearly\s+|in\s+fact\s+|actually\s+)?"
    r"(?:(?P<yes>true|correct|right|accurate)|false|incorrect|wrong|untrue|inaccurate)\W*\Z",
    re.IGNORECASE,
)


def yes_or_no(text: Text) -> int:
    """+1 where an answer is "The statement is true." or alike, -1 where it says that it is false, else 0."""
    found = _VERDICT.match(text.clean)
    if not found:
        return 0
    return 1 if bool(found["yes"]) != bool(found["not"]) else -1


def is_bare(text: Text) -> bool:
    """Whether the answer is nothing but its yes or no: "Yes.", "No, it does not."."""
    return len(text.words) <= _FEW_BEFORE or (len(text.words) <= _ECHO and _ECHOES.issuperset(text.tokens))


_FEW_BEFORE = 2
_ECHO = 5
_ECHOES = word_set(
    """yes no not it they you we i he she this that there is are was were do does did can could will would should must
    may might has have had am at all by means"""
)
"""What a yes or a no repeats of the question without saying anything of its own."""
_RESTRICTED = expression(
    rf"{_ANSWER}\w+(?:[\s,.;:–—-]+(?:{'|'.join(sorted(_ECHOES - {'at', 'by'}))}))*[\s,.;:–—-]+"
    r"(?:(?:at(?! (?:all|least)\b)|by(?! (?:all|no)\b)|for(?! (?:sure|certain|example|instance|(?:\w+ )?reasons?)\b)"
    r"|in(?! (?:fact|my|accordance|the (?:text|article|passage))\b)|with(?! (?:pleasure|certainty)\b)"
    r"|without(?! (?:a |any )?(?:doubt|question|exception)\b)|from(?! (?:what|the text)\b))\b"
    r"|(?:on|until|till|after|before|between|during|when|whenever|while|within|under|over|above|below|up to|once|where"
    r"|outside|beyond|through|subject to|starting|but|though|although|just|mostly|usually|sometimes|often|partly)\b)",
    re.IGNORECASE,
)
"""A yes or a no that says next when, where or for whom: "Yes, on Sundays."; it may repeat that of the question."""


def denies(text: Text) -> bool:
    """Whether a negator stands in the answer's first clause."""
    clause = _CLAUSE_END.split(text.clean, maxsplit=1)[0]
    return not word_lists.NEGATORS.isdisjoint(canonical_words(clause))


# Answers that say there is nothing to give: "None", "N/A", "No dosage is mentioned in the text".


_GIVEN = (
    r"(?:mentioned|stated|given|specified|provided|listed|named|found|included|indicated|recorded|disclosed|known|available"
    r"|applicable)"
)
_SOURCE = (
    r"(?:text|document|letter|article|passage|review|message|e-?mail|contract|receipt|invoice|context|report|form|note"
    r"|data|description|conversation|transcript|ticket|content|excerpt|paragraph|source|input|file|post|page)"
)
_IN = rf"(?: (?:in|by|on|from) (?:the|this|your)(?: \w+)? {_SOURCE}| here| anywhere)?"
_BARE = expression(
    rf"(?:none|n/?a|null|nil|unknown|nothing|-|–|—|not {_GIVEN}{_IN}|none {_GIVEN}{_IN}|unspecified|missing"
    rf"|i (?:could not|couldn't|cannot|can't|did not|didn't) find (?:it|this|that|any|one){_IN}"
    r"|keine(?: angaben?)?|nicht (?:angegeben|genannt|bekannt|vorhanden|erwähnt)|unbekannt|aucune?|inconnue?"
    r"|non (?:précisée?|mentionnée?|indiquée?|renseignée?|specificato|indicato|menzionato)|ningun[oa]|desconocid[oa]"
    r"|no (?:especificad|mencionad|indicad)[oa]|nessun[oa]?|sconosciut[oa]|geen|onbekend"
    r"|niet (?:vermeld|opgegeven|bekend))"
)
_SENTENCE = expression(
    rf"no [^.,;:!?]{{1,40}}? (?:is|are|was|were|has been|have been|can be) {_GIVEN}{_IN}"
    rf"|(?:the|this|your)(?: \w+)? {_SOURCE} (?:does not|doesn't|do not|don't) (?:explicitly )?(?:mention|state"
    r"|specify|say|give|name|list|contain|include|provide|indicate)\b[^.;:!?]{0,50}"
    rf"|there (?:is|are) no (?:mention|information|indication|reference|details?)\b[^.;:!?]{{0,50}}"
    rf"|(?:the|its|their|an?) [^.,;:!?]{{1,40}}? (?:is|are|was|were|has|have)(?: not|n't)(?: been)?(?: explicitly)?"
    rf" {_GIVEN}{_IN}(?: in [^.;:!?]{{1,40}})?"
)
_KEY = expression(r"\A[^:\n]{1,40}:\s+(?=\S)")
_LONGEST = 120
_ABSENT_FEW = 3
"""Words from which an answer that says so holds a "not" or a "no"."""


def absent(text: Text) -> str:
    """``barely`` where an answer is nothing but "none" or alike, ``wholly`` where a sentence says so, else ``""``."""
    if len(text.clean) > _LONGEST or (
        len(text.tokens) > _ABSENT_FEW and word_lists.NEGATORS.isdisjoint(text.tokens)
    ):
        return ""
    if text.clean.strip(" .") == "Na":
        return ""  # sodium
    said = text.clean.casefold().replace("’", "'").strip(" \t\n.!\"'()[]")
    if _BARE.fullmatch(said) or _BARE.fullmatch(_KEY.sub("", said)):
        return "barely"
    return "wholly" if _SENTENCE.fullmatch(said) else ""


def key(text: Text) -> str:
    """What stands before the colon of a line "key: value", lower-cased; empty where there is none."""
    found = _KEY.match(text.clean)
    return re.sub(r"\W+", " ", found[0].casefold()).strip() if found else ""


# What kinds of answer two texts are: refusals, platitudes, "none", a yes or a no.


def kind_of_answer(pair: Pair, profile: Profile) -> tuple[Pair, Comparison | None]:
    """Two answers without the asides around them, and what is decided by their kinds.

    A refusal counts against an answer, two refusals are the same; a disclaimer, an apology or a courtesy that only one
    answer has is no difference.
    """
    found = None
    if "refusal" in profile.guards and (pair.a.once(declines) or pair.b.once(declines)):
        if _is_retold(pair, profile):
            return pair, _by_kind(pair, profile)
        found = _declined(pair)
    if found or profile.normalisers != NORMALISERS:
        return pair, found or _by_kind(pair, profile)
    texts = pair.a, pair.b
    first, second = (read_asides(text.clean) for text in texts)
    if all(
        len(aside.substance) == len(text.clean) for aside, text in zip((first, second), texts, strict=True)
    ):
        return pair, _by_kind(pair, profile)
    if bool(first.substance) != bool(second.substance) and "refusal" in profile.guards:
        which, empty = ("response", pair.b) if first.substance else ("baseline", pair.a)
        observed = Observation("answers-nothing", which, empty.clean)
        return pair, _by_kind(pair, profile) or decided("deviation", "guard:refusal", observed)
    if not first.substance or not second.substance:
        return pair, _by_kind(pair, profile)
    bare = Pair(analyse(first.substance), analyse(second.substance))
    # A courtesy may say yes, "Absolutely!"; a disclaimer stands before it.
    spoken = bare if first.spoken or second.spoken else pair
    found = _by_kind(spoken, profile)
    if found is None and bare.a.tokens == bare.b.tokens and bare.a.normalised == bare.b.normalised:
        return bare, decided("equivalent", "courtesy", Observation("same-but-courtesies"))
    return bare, found


def _is_retold(pair: Pair, profile: Profile) -> bool:
    """Whether what looks like a refusal is told by both: "I can't come on Friday", "I'm unable to come on Friday"."""
    if likeness(pair) < _RETOLD:
        return False
    if not (pair.a.once(declines) and pair.b.once(declines)):
        return True
    from pytest_promptfuzz.comparing.guards import checks

    findings = checks.run(pair, profile.guards)
    return bool(findings) and findings[-1].kind == "contradiction"


def _declined(pair: Pair) -> Comparison | None:
    """What is decided where an answer declines, and does not say what the other says all the same."""
    texts = pair.a, pair.b
    first, second = (read_asides(text.clean) for text in texts)
    all_decline = all(text.once(declines) for text in texts)
    if first.substance and second.substance:
        rest = Pair(analyse(first.substance), analyse(second.substance))
        if likeness(rest) >= _SHARED or (all_decline and first.turned and second.turned):
            return None
    if all_decline:
        return decided("equivalent", "refusal", Observation("both-decline"))
    which, text = ("baseline", pair.a) if pair.a.once(declines) else ("response", pair.b)
    return decided("deviation", "guard:refusal", Observation("only-declines", which, text.clean))


def _by_kind(pair: Pair, profile: Profile) -> Comparison | None:
    """What is decided by an answer that says nothing, has nothing to give, or says yes or no."""
    one, two = pair.a, pair.b
    if "refusal" in profile.guards:
        evaded = _evaded(pair) or _nothing(one, two, profile)
        if evaded:
            return evaded
    if "yes-no" not in profile.guards:
        return None
    first, second = one.once(polarity), two.once(polarity)
    words = {1: "yes", -1: "no"}
    if first and second:
        if first != second:
            became = Observation("yes-no-became", words[first], words[second])
            return decided("deviation", "guard:yes-no", became)
        if not is_bare(one) and not is_bare(two):
            return None
        for which, text in (("baseline", one), ("response", two)):
            if conditional(text):
                observed = Observation("only-conditional", which, words[first], text.clean)
                return decided("deviation", "guard:yes-no", observed)
            if _RESTRICTED.match(text.clean):
                return _maybe(Observation("conditional", which, words[first], text.clean))
        return decided("equivalent", "yes-no", Observation("both-say", words[first]))
    if first and is_bare(one) and not _names(one, two):
        return _implied(first, two, "baseline", "response")
    if second and is_bare(two) and not _names(two, one):
        return _implied(second, one, "response", "baseline")
    return None


def _names(bare: Text, other: Text) -> bool:
    """Whether a bare word that may be a label is one: "negative" beside "The review is negative."."""
    return any(word in LABELS and word in other.words for word in bare.words)


_RETOLD = 0.6
_SHARED = 0.35
"""Words shared from which two texts are about the same thing."""


def _evaded(pair: Pair) -> Comparison | None:
    """An answer against a platitude or a question asked back, which shares next to nothing with it."""
    if pair.shared >= _SHARED:
        return None
    one, two = pair.a, pair.b
    evasions = one.once(evades), two.once(evades)
    if evasions[0] == evasions[1] or likeness(pair) >= _SHARED:
        return None
    which, text = ("baseline", one) if evasions[0] else ("response", two)
    if text.once(polarity):
        return None
    return decided("deviation", "guard:refusal", Observation("only-evades", which, text.clean))


def _nothing(one: Text, two: Text, profile: Profile) -> Comparison | None:
    """An answer that there is nothing to give, against another such answer, or against a value."""
    if profile.kind == "label" and labels.is_label(one) and labels.is_label(two):
        return None
    first, second = one.once(absent), two.once(absent)
    if first and second:
        keys = {key(one), key(two)} - {""}
        if "barely" in {first, second} and len(keys) <= 1:
            return decided("equivalent", "absent", Observation("both-give-nothing"))
        return None
    if bool(first) == bool(second):
        return None
    which, other = ("baseline", two) if first else ("response", one)
    if len(other.tokens) > _VALUE or polarity(other) or not word_lists.NEGATORS.isdisjoint(other.tokens):
        return None
    if other.tokens == ["0"] or polarity(one if first else two):
        return None
    return decided("deviation", "guard:refusal", Observation("only-gives-nothing", which, other.clean))


_VALUE = 12
"""Words up to which an answer may be a value that was asked for."""


def _implied(said: int, sentence: Text, speaker: str, other: str) -> Comparison | None:
    """A bare yes or no against a sentence that begins with neither."""
    if len(sentence.words) <= labels.MAX_WORDS:
        return None
    word = "yes" if said > 0 else "no"
    verdict = yes_or_no(sentence)
    if verdict == said:
        return decided("equivalent", "yes-no", Observation("both-say", word))
    if not verdict and denies(sentence) == (said < 0):
        return _maybe(Observation("may-mean-it", speaker, word, other, sentence.clean))
    observed = Observation("says-opposite", speaker, word, other, sentence.clean)
    return decided("deviation", "guard:yes-no", observed)


def _maybe(note: Observation) -> Comparison:
    observed = Observation("words-cannot-tell", note, JUDGE)
    return Comparison("undecided", None, "yes-no", observed, (Tier("yes-no", None, note),))


_NOT_EXACT = Tier("exact", 0.0)
_DIFFERENT = (_NOT_EXACT, Tier("normalised", 0.0))


def compare_texts(
    first: str, second: str, profile: Profile, *, semantic: Embedder | None, named: bool
) -> Comparison:
    """Compare two texts.

    Args:
        first: The baseline.
        second: The response.
        profile: Thresholds and guards.
        semantic: Embeds texts where words cannot tell; ``None`` leaves such pairs undecided.
        named: Whether the user said that the answer is a label, rather than that it was inferred.
    """
    if first == second:
        return Comparison("equivalent", 1.0, "exact", Observation("identical"), (Tier("exact", 1.0),))
    one, two = analyse(first), analyse(second)
    found = _compared(one, two, profile, semantic=semantic, named=named)
    if found.outcome in {"equivalent", "minor"} and found.reason != "normalised":
        return introduced(found, introduction(one.clean), introduction(two.clean))
    return found


def introduced(found: Comparison, one: str, two: str) -> Comparison:
    """What is found of two answers that say the same, as far as what leads to them announces the same."""
    from pytest_promptfuzz.comparing.guards import checks

    other = checks.check_introductions(one, two)
    if other is None:
        return found
    if other.kind == "contradiction":
        return decided("deviation", f"guard:{other.guard}", other.observed)
    observed = Observation("words-cannot-tell", other.observed, JUDGE)
    return Comparison("undecided", None, "introduction", observed, (*found.tiers, Tier("introduction", None)))


def _compared(
    one: Text, two: Text, profile: Profile, *, semantic: Embedder | None, named: bool
) -> Comparison:
    first, second = one.raw, two.raw
    # Texts of other words cannot be equal once normalised, and normalising both costs more than comparing words.
    if (
        one.tokens == two.tokens
        and one.normalised == two.normalised
        and (one.normalised or first.strip() == second.strip())
    ):
        tiers = (_NOT_EXACT, Tier("normalised", 1.0))
        if profile.normalisers != NORMALISERS:
            apart = kept_apart(first, second, profile.normalisers)
            if apart:
                return _apart(apart, one, profile)
        apart_in = _literally(one, two, profile)
        if apart_in:
            return decided("minor", "guard:literal", apart_in)
        return Comparison("equivalent", 1.0, "normalised", Observation("same-but-form"), tiers)
    tiers = _DIFFERENT
    pair = agreed(Pair(one, two))
    found = _empty(pair.a, pair.b)
    if found is None:
        pair, found = kind_of_answer(pair, profile)
    if found is None and "label" in profile.tiers and not named:
        found = _value(pair.a, pair.b)
    if found is None and "label" in profile.tiers and _may_be_label(pair.a, pair.b, profile):
        found = _label(pair.a, pair.b, named=named)
    if found is None and profile.kind == "text":
        from pytest_promptfuzz.comparing.claims.prose import compare_claims, is_prose

        if is_prose(pair.a, pair.b):
            return compare_claims(pair.a.raw, pair.b.raw, profile, semantic=semantic)
    if found is None:
        return _texts(pair, profile, semantic, tiers)
    return found.but(tiers=tiers + found.tiers)


def _apart(names: list[str], one: Text, profile: Profile) -> Comparison:
    """Answers that differ in nothing but what the profile does not set aside."""
    is_label = profile.kind == "label" or labels.is_label(one)
    observed = Observation("form-not-set-aside", tuple(names))
    return decided("deviation" if is_label else "minor", "normalised", observed)


def _literally(one: Text, two: Text, profile: Profile) -> Observation | None:
    """What texts that are equal once normalised differ in where every letter counts; a label's case does not."""
    if "literal" not in profile.guards or one.raw.strip() == two.raw.strip():
        return None
    is_label = (profile.kind == "label" or labels.is_label(one)) and not values.is_code(one)
    return values.rewritten(one, two) or values.other_case(one, two, quotes=not is_label)


def _empty(one: Text, two: Text) -> Comparison | None:
    if one.raw.strip() and two.raw.strip():
        return None
    if not one.raw.strip() and not two.raw.strip():
        return decided("equivalent", "normalised", Observation("both-empty"))
    which = "baseline" if not one.raw.strip() else "response"
    return decided("deviation", "empty", Observation("only-empty", which))


def _value(one: Text, two: Text) -> Comparison | None:
    """What is known of two answers of which at least one is a value and no label that the user asked for."""
    if min(len(one.tokens), len(two.tokens)) > aliases.LONGEST:
        return None
    relation = aliases.related(one.clean, two.clean)
    if relation is None:
        for text, other in ((one, two), (two, one)):
            date = aliases.date_of(text.clean) if len(text.words) <= labels.MAX_WORDS else None
            if date and len(other.words) > labels.MAX_WORDS and len(other.sentences) == 1:
                relation = aliases.stated_date(date, other.clean)
    if relation is None:
        return None
    if relation.kind == "open":
        return _open(relation.observed)
    return decided("equivalent" if relation.kind == "same" else "minor", "value", relation.observed)


def _open(note: Observation) -> Comparison:
    observed = Observation("words-cannot-tell-values", note, JUDGE)
    return Comparison("undecided", None, "value", observed, (Tier("value", None, note),))


def _may_be_label(one: Text, two: Text, profile: Profile) -> bool:
    return profile.kind == "label" or labels.is_label(one) or labels.is_label(two)


def _label(one: Text, two: Text, *, named: bool) -> Comparison | None:
    """What labels say; ``named`` where the task is to give one. ``None`` where no label decides."""
    if labels.is_label(one):
        if labels.is_label(two):
            return _two_labels(one, two, named=named)
        return _label_and_text(one, two, "response", named=named)
    if labels.is_label(two) and (
        named
        or aliases.is_foreign(two.clean, one.clean)
        or labels.stands_in(two, one)
        or declared(one.clean)
        or labels.rejected(two, one)
    ):
        return _label_and_text(two, one, "baseline", named=named)
    both = labels.both_give(one, two) if named else None
    return _labels_given(one, two, both) if both else None


def _two_labels(one: Text, two: Text, *, named: bool) -> Comparison:
    """Two answers that are nothing but labels."""
    first, second = labels.bare(one), labels.bare(two)
    written = values.rewritten(one, two) or values.other_case(one, two, quotes=False)
    if written and labels.same(one, two):
        return decided("minor", "guard:literal", written)
    if labels.separated(one, two):
        apart = Observation("digits-separated", first, second)
        return decided("minor", "label", apart) if named else _open(apart)
    unlike = values.other_version(one, two)
    if unlike:
        return decided("deviation", "guard:identifiers", unlike)
    if labels.doubted(one, two) or labels.doubted(two, one):
        return _open(Observation("one-leaves-open", one.clean, two.clean))
    if labels.same(one, two) or labels.gives(one, two) or labels.gives(two, one):
        return decided("equivalent", "label", Observation("same-label", first))
    if labels.same_set(one, two):
        return decided("minor", "label", Observation("label-items-reordered", first))
    return _other_label(one, two, named=named)


def _other_label(one: Text, two: Text, *, named: bool) -> Comparison:
    first, second = labels.bare(one), labels.bare(two)
    became = Observation("answer-became", one.clean, two.clean)
    if named or (first.isalpha() and second.isalpha() and not one.clean.istitle()):
        became = Observation("label-became", first, second)
    if labels.extends(one, two) == "longer":
        return decided("minor", "label", became) if named else _open(became)
    return decided("deviation", "label", became)


def _labels_given(one: Text, two: Text, both: tuple[Text, Text]) -> Comparison | None:
    """Two answers that each give a label, and say more."""
    first, second = (labels.bare(each) for each in both)
    if not labels.same(*both):
        return decided("deviation", "label", Observation("label-became", first, second))
    if _said_of_others(one, two):
        return None
    if labels.doubted(both[0], two) or labels.doubted(both[1], one):
        return _open(Observation("other-certainty", first))
    return decided("equivalent", "label", Observation("both-give-label", first))


def _label_and_text(label: Text, answer: Text, which: str, *, named: bool) -> Comparison | None:
    """A label beside a longer answer, which is the ``which`` of the two."""
    start = label.clean.rstrip(" .:;,")
    begins = not named and answer.clean.lower().startswith(start.lower())
    if begins and (answer.clean[len(start) :][:1] in _GOES_ON or not labels.gives(label, answer)):
        return None  # the beginning of an answer is not its label
    name = labels.bare(label)
    if labels.breaks_off(label, answer):
        other = "baseline" if which == "response" else "response"
        return decided("deviation", "guard:sequence", Observation("label-cut-off", other, label.clean))
    return _found_label(label, answer, which, name, named=named)


def _found_label(label: Text, answer: Text, which: str, name: str, *, named: bool) -> Comparison | None:
    """What it means how a label stands in a longer answer."""
    match labels.found_in(label, answer):
        case "stated":
            return decided("equivalent", "label", Observation("label-stated", which, name))
        case "doubted":
            return _open(Observation("label-left-open", which, label.clean))
        case "reason" if not named:
            return _open(Observation("label-in-reason", which, label.clean))
        case "named" if named:
            return decided("minor", "label", Observation("label-in-text", which, name))
        case "named":
            return _open(Observation("mentioned-in-text", which, label.clean))
        case "qualified" | "denied":
            said = [each.casefold() for each in declared(answer.clean)]
            gives = said[0] if len(said) == 1 else labels.bare(answer)
            first, second = (name, gives) if which == "response" else (gives, name)
            return decided("deviation", "label", Observation("label-became", first, second))
        case _ if named or name[:1].isdigit() or aliases.is_foreign(label.clean, answer.clean):
            return decided("deviation", "label", Observation("label-missing", name, which, answer.clean))
        case _:
            return None


def _said_of_others(one: Text, two: Text) -> bool:
    """Whether two answers give one label to all, and to some: "all six are rated as safe", "only two of the six"."""
    from pytest_promptfuzz.comparing.guards import checks

    pair = Pair(one, two)
    found = (
        checks.run(pair, ("choices", "numbers", "negation")) if pair.similarity >= checks.FRAME / 2 else []
    )
    return bool(found) and found[-1].kind == "contradiction"


_GOES_ON = frozenset(".!?;:")
"""What ends a first statement, to which others are added; a label is followed by its reason, or by a new line."""


def _guards(pair: Pair, profile: Profile) -> tuple[str, ...]:
    """The guards that are asked: a name that the other answer begins with is an answer, and not a part of one."""
    leads = pair.start >= min(len(pair.a.tokens), len(pair.b.tokens))
    if leads and any(aliases.is_name(text.clean) for text in (pair.a, pair.b)):
        return tuple(name for name in profile.guards if name != "sequence")
    return profile.guards


def _texts(pair: Pair, profile: Profile, semantic: Embedder | None, tiers: tuple[Tier, ...]) -> Comparison:
    from pytest_promptfuzz.comparing.guards import checks

    one, two = pair.a, pair.b
    found = checks.run(pair, _guards(pair, profile))
    words = pair.similarity
    tiers += (Tier("token", words),)
    if found and found[-1].kind == "contradiction":
        last = found[-1]
        return Comparison(
            "deviation",
            0.0,
            f"guard:{last.guard}",
            last.observed,
            (*tiers, Tier(f"guard:{last.guard}", 0.0, last.observed)),
        )
    tiers += tuple(Tier(f"guard:{each.guard}", None, each.observed) for each in found)
    if profile.kind == "label" and found and all(pair.residue) and words >= checks.FRAME:
        # A label's sentence with another word in it is another label.
        return Comparison("deviation", 0.0, f"guard:{found[-1].guard}", found[-1].observed, tiers)
    if not one.tokens and not two.tokens:
        return decided("deviation", "token", Observation("wordless-became", one.raw, two.raw))
    told = by_words(pair, profile, found, tiers) if "token" in profile.tiers else None
    if told:
        return told
    if semantic is not None:
        return by_meaning(pair, profile, semantic, found, tiers)
    if "token" not in profile.tiers:
        return Comparison("undecided", None, "no-tier", Observation("no-tier"), tiers)
    return undecided(pair, found, tiers, embeds=False)
