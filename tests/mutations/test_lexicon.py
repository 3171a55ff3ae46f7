"""The lexicon: how much it holds, that every form of it is English, and that words are replaced in their sense only."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from mutation_samples import TEXTS, draft_of

from pytest_promptfuzz.data import english_words, tables
from pytest_promptfuzz.data.english_words import CLASSES
from pytest_promptfuzz.mutations.analysis import lexicon
from pytest_promptfuzz.mutations.analysis.lexicon import (
    KINDS,
    an_before,
    entries,
    forms,
    gerund,
    lemmas,
    own_lexicon,
    participle,
    plural,
    read,
    third_person,
)
from pytest_promptfuzz.mutations.analysis.spared_text import data_spans, field_spans, inside, merged
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.prompts.cues import logic_words
from pytest_promptfuzz.text.expressions import words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.analysis.lexicon import LexiconEntry, PartOfSpeech

TABLES = {"verb": "verbs", "noun": "nouns", "adjective": "adjectives", "adverb": "adverbs"}
EVERY: list[tuple[str, LexiconEntry]] = [
    (pos, entry)
    for by_pos in (entries(), lexicon.near(), lexicon.wider(), lexicon.narrower())
    for pos, table in by_pos.items()
    for entry in table.values()
]


def test_it_holds_a_thousand_headwords() -> None:
    heads = {head for table in entries().values() for head in table}
    assert len(heads) >= 1_000
    counts = {pos: len(table) for pos, table in entries().items()}
    assert counts["verb"] >= 200
    assert counts["noun"] >= 150
    assert counts["adjective"] >= 250
    assert counts["adverb"] >= 150


@pytest.mark.parametrize(
    "kind", [lexicon.near, lexicon.wider, lexicon.narrower], ids=lambda each: each.__name__
)
def test_each_table_of_senses_holds_enough(kind: object) -> None:
    assert sum(len(table) for table in kind().values()) >= 120  # type: ignore[operator]


@pytest.mark.parametrize("pos", TABLES)
def test_no_headword_stands_in_a_table_twice(pos: PartOfSpeech) -> None:
    lefts = tables.entries(f"replacements/{TABLES[pos]}.txt", lambda line: line.partition(":")[0])
    heads = [re.match("~?([a-z]+)", each.strip())[1] for left in lefts for each in left.split(" = ")]  # type: ignore[index]
    assert sorted(each for each in set(heads) if heads.count(each) > 1) == []
    assert set(heads) == set(entries()[pos])


def test_every_entry_is_sound() -> None:
    wrong = [
        (pos, entry.head)
        for pos, entry in EVERY
        if not entry.alternatives
        or entry.head in entry.alternatives
        or len(set(entry.alternatives)) < len(entry.alternatives)
        or not re.fullmatch("[a-z]+", entry.head)
        or not all(re.fullmatch("[a-z]+(?:[ -][a-z]+)*", each) for each in entry.alternatives)
        or not set(entry.flags) <= set("cp0imxtbevdusaq")
    ]
    assert wrong == []


def test_no_word_of_logic_is_a_head_or_an_alternative() -> None:
    assert [word for word in forms().words if logic_words(word)] == []
    assert [each for _, entry in EVERY for each in entry.alternatives if logic_words(each)] == []


def test_no_function_word_is_a_head() -> None:
    assert [
        entry.head for pos, entry in EVERY if pos not in {"adverb", "adjective"} and entry.head in CLASSES
    ] == []


IRREGULAR = words(
    """
    be become begin bend bet bind bite bleed blow break breed bring build burn burst buy catch choose cling come
    cost creep cut deal dig do draw drink drive eat fall feed feel fight find flee fling fly forbid forecast
    forget forgive freeze get give go grind grow hang have hear hide hit hold hurt keep kneel know lay lead
    leave lend let lie lose make mean meet mislead misread misunderstand offset output oversee overtake pay put
    quit read rend rethink retell rid ride ring rise run say see seek sell send set sew shake shed shine shoot
    show shrink shut sing sink sit sleep slide speak speed spend spin spit split spread spring stand steal stick
    sting strike strive swear sweep swim swing take teach tear tell think throw understand undertake uphold wake
    wear weave weep win wind withdraw withhold write
    """
)
"""English verbs off the rules, as far as anyone would put them into a prompt."""

# One vowel letter between single consonants at the end of a word of one syllable doubles the last: stop, stopped.
DOUBLING = re.compile(r"(?:[^aeiou]+|[^aeiou]*qu)[aeiou][^aeiouwxy]")
STRESSED_AT_THE_END = {
    "compel",
    "deter",
    "forbid",
    "infer",
    "omit",
    "permit",
    "rebut",
    "distill",
    "refer",
    "prefer",
    "recap",
}


def first_words() -> set[str]:
    """The words of the lexicon that are inflected as verbs."""
    return {
        each.split()[0] for pos, entry in EVERY if pos == "verb" for each in (entry.head, *entry.alternatives)
    }


def test_every_verb_off_the_rules_is_known() -> None:
    found = first_words()
    special = {
        each for each in found if each in IRREGULAR or each in STRESSED_AT_THE_END or DOUBLING.fullmatch(each)
    }
    assert sorted(special - set(english_words.IRREGULAR)) == []


@pytest.mark.parametrize(
    ("verb", "known"),
    [
        ("classify", "classifies classifying classified"),
        ("analyze", "analyzes analyzing analyzed"),
        ("assess", "assesses assessing assessed"),
        ("agree", "agrees agreeing agreed"),
        ("convey", "conveys conveying conveyed"),
        ("omit", "omits omitting omitted"),
        ("choose", "chooses choosing chosen"),
        ("carry out", "carries out carrying out carried out"),
        ("stick to", "sticks to sticking to stuck to"),
        ("fix", "fixes fixing fixed"),
    ],
)
def test_verbs_inflect(verb: str, known: str) -> None:
    made = f"{third_person(verb)} {gerund(verb)} {participle(verb)}"
    assert made == known


@pytest.mark.parametrize(
    ("noun", "known"),
    [
        ("query", "queries"),
        ("survey", "surveys"),
        ("synopsis", "synopses"),
        ("person", "people"),
        ("point of view", "points of view"),
        ("main character", "main characters"),
        ("weakness", "weaknesses"),
        ("approach", "approaches"),
    ],
)
def test_nouns_inflect(noun: str, known: str) -> None:
    assert plural(noun) == known


def test_no_noun_has_a_plural_that_the_rules_miss() -> None:
    missed = {"criterion", "analysis", "child", "man", "woman", "person", "life", "knife", "leaf", "shelf", "half", "phenomenon",
              "datum", "medium", "index", "appendix", "foot", "tooth", "mouse", "staff", "sheep", "series", "hero"}  # fmt: skip
    used = {
        each.split()[-1]
        for pos, entry in EVERY
        if pos == "noun" and not {"u", "s"} & set(entry.flags)
        for each in (entry.head, *entry.alternatives)
    }
    assert sorted((used & missed) - set(english_words.IRREGULAR_PLURALS)) == []


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("hour", "an"),
        ("honest", "an"),
        ("history", "a"),
        ("user", "a"),
        ("unit", "a"),
        ("unusual", "an"),
        ("unimportant", "an"),
        ("uninteresting", "an"),
        ("one", "a"),
        ("European", "a"),
        ("in-depth", "an"),
        ("usual", "a"),
    ],
)
def test_the_article_goes_by_the_sound(word: str, article: str) -> None:
    assert an_before(word) == article


def test_a_form_is_traced_to_its_lemma() -> None:
    assert ("ing", "write") in lemmas("writing")
    assert ("s", "query") in lemmas("queries")
    assert ("ed", "classify") in lemmas("classified")
    assert lemmas("class") == [("base", "class")]


def test_british_forms_get_british_substitutes() -> None:
    (reading,) = forms().readings("categorised")
    assert reading.alternatives == ("classified",)
    assert [each.alternatives for each in forms().readings("summarising")] == [("summing up",)]
    assert forms().readings("classify")[0].alternatives == ("categorize",)


def test_a_table_is_read_as_written() -> None:
    table = read(["~mark/t!off,up@for: flag", "~a/u = b", "plain: one two_words", "base: form* other"])
    entry = table["mark"]
    assert (entry.ambiguous, entry.flags, entry.barred, entry.wanted) == (True, "t", {"off", "up"}, {"for"})
    assert table["plain"].alternatives == ("one", "two words")
    assert table["base"].inflecting == ("other",)
    assert table["b"].alternatives == ("a",)
    assert (table["a"].flags, table["a"].ambiguous, table["a"].alternatives) == ("u", True, ("b",))
    with pytest.raises(ValueError, match="no head"):
        read(["Two words: x"])


def test_our_lexicon_answers_for_english_only() -> None:
    own = own_lexicon()
    assert own.synonyms("concise", "adjective", "en") == ("succinct",)
    assert own.wider("car", "noun", "en") == ("vehicle",)
    assert own.narrower("vehicle", "noun", "en") == ("car",)
    assert own.near("explain", "verb", "en") == ("describe",)
    assert own.synonyms("concise", "adjective", "de") == ()
    assert own.synonyms("concise", "noun", "en") == ()
    assert (own.name, KINDS[0]) == ("own", "synonym")


# Frozen before the rules were written: what a careful reader would and would not let a synonym do.
CHANGED = [
    ("Provide a concise overview of the passage.", "concise", "succinct"),
    ("Give an accurate answer.", "an accurate", "a correct"),
    ("Write an answer.", "an answer", "a response"),
    ("Analyze the text and identify the main issue.", "main", "primary"),
    ("The summary contains two parts.", "contains", "includes"),
    ("Explain it by analyzing the text.", "analyzing", "examining"),
    ("The goals are listed below.", "goals", "aims"),
    ("Pick the chosen option.", "chosen", "selected"),
    ("Classify each ticket, then summarize it briefly.", "briefly", "concisely"),
    ("ONE. Summarise the article for beginners.", "beginners", "newcomers"),
    ("You must verify the identity of the caller.", "verify", "check"),
    ("However, be polite.", "polite", "courteous"),
    ("Keep a courteous tone.", "a courteous", "a polite"),
    ("List every obligation of the tenant.", "obligation", "duty"),
    ("Furthermore, cite a source.", "Furthermore", "Additionally"),
]


def changes(text: str) -> set[str]:
    return {each.text for each in plan(text, 80, operators=["synonym"]).mutations}


@pytest.mark.parametrize(("text", "old", "new"), CHANGED, ids=[b for _, b, _ in CHANGED])
def test_a_word_is_replaced_in_its_sense(text: str, old: str, new: str) -> None:
    assert any(
        text.replace(old, new) == made or f"{new} " in made or f"{new}." in made for made in changes(text)
    )
    assert not any(re.search(r"\ba [aeio]|\ban [bcdfgjklmnpqrstvwxyz]", made) for made in changes(text))


KEPT = [
    ("Define the primary key.", "primary"),
    ("Support the claim that issue 7 is closed.", "issue"),
    ("In short, it is on purpose.", "purpose"),
    ("Answer in detail and by mistake if needed.", "mistake"),
    ("Compute the current account balance.", "current"),
    ("Draw a simple harmonic oscillator.", "simple"),
    ("Report the false positives and the random variable.", "random"),
    ("Is the effect a significant effect?", "significant"),
    ("Merge the branch into main.", "Merge"),
    ("Say whether the review is relevant or irrelevant.", "relevant"),
    ("Mark it as relevant and stop.", "relevant"),
    ("It is 5 minutes short.", "short"),
    ("Review: It was a boring and terrible film.\nSentiment:", "boring"),
    ("Text:\nThe company has a main goal.\n\nTask: be brief.", "main goal"),
    ("<doc>\nThe company has a main goal.\n</doc>\nStop.", "main goal"),
    (
        "Extract the quantity of goods and the purpose of the order as JSON.",
        "quantity of goods and the purpose",
    ),
    ("Return JSON with a rationale and a conclusion.", "rationale"),
    ("Answer as JSON. Include the justification of it.", "justification"),
    ("Extract the following:\n- Purpose\n- Outcome of the call\n", "Outcome of the call"),
    ("Use the columns supplier, fee and deadline.", "supplier, fee and deadline"),
    ("Say whether the claim is accurate or inaccurate.", "accurate or inaccurate"),
    ("Mark it as polite, then stop.", "polite"),
    ("The client is demanding payment.", "demanding"),
    ("Write it by alarming users.", "alarming"),
    ("Find the remainder.", "remainder"),
    ("Give the user a link.", "Give"),
    ("Provide the user with a link.", "Provide"),
    ("You are required to stop.", "required"),
    ("The users were provided a link.", "provided"),
    ("See the topic-specific goal-oriented list.", "goal-oriented"),
    ("The GOAL is Purpose.", "GOAL is Purpose"),
    ("Compare the goal with what {goal} says.", "the goal"),
    ("It is the largest of the objects.", "largest"),
]


@pytest.mark.parametrize(("text", "kept"), KEPT, ids=[b for _, b in KEPT])
def test_a_word_stays_where_its_sense_is_another(text: str, kept: str) -> None:
    assert kept in text
    assert [made for made in changes(text) if kept not in made] == []


@given(TEXTS)
def test_fields_and_data_are_spans_in_order(text: str) -> None:
    draft = draft_of(text)
    for spans in (field_spans(draft), data_spans(draft)):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


FIELDS = [
    (
        "Extract the name, the quantity and the delivery date as JSON.",
        "name quantity delivery date",
        "Extract JSON",
    ),
    (
        "Extract these:\n- Customer name\n- Purpose: why they wrote\n\nMail: {m}",
        "Customer name Purpose",
        "why wrote",
    ),
    ("Return JSON with a summary and a score.", "summary score", "Return"),
    ("From the bill, capture supplier and fee. Then be brief.", "supplier fee", "bill brief"),
    ("Answer as JSON. Include the category and a reason.", "category reason", "Answer Include"),
    ("Use the columns supplier, fee and deadline.", "supplier fee deadline", "Use"),
    ("Provide a short summary of the name.", "", "summary name"),
]


@pytest.mark.parametrize(("text", "names", "others"), FIELDS, ids=[each[0][:30] for each in FIELDS])
def test_the_names_of_fields_are_found_in_prose(text: str, names: str, others: str) -> None:
    spans = draft_of(text).once(field_spans)
    assert [each for each in names.split() if not inside(spans, text.index(each))] == []
    assert [each for each in others.split() if inside(spans, text.index(each))] == []


def test_spans_are_merged_and_searched() -> None:
    spans = merged([(8, 9), (2, 4), (3, 6), (6, 7), (10, 10)])
    assert spans == ((2, 7), (8, 9))
    assert [at for at in range(11) if inside(spans, at)] == [2, 3, 4, 5, 6, 8]
    assert not inside((), 0)
