"""Shortcuts find what the long way finds: cues, words read by splitting, patterns that wait for their first words."""

from __future__ import annotations

import dataclasses
import json
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation_samples import PROMPTS, TEXTS, draft_of

from pytest_promptfuzz.mutations.analysis import order, prompt_blocks, spared_text
from pytest_promptfuzz.mutations.analysis.draft import BOUND, TOKENS, heard, said, said_at, tokens_of
from pytest_promptfuzz.mutations.analysis.phrases import Direction, _register, has_phrases
from pytest_promptfuzz.mutations.engine import operator as operators
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.mutations.operators import tone
from pytest_promptfuzz.mutations.operators.tone import addressed
from pytest_promptfuzz.randomness import Rng

DATA = Path(__file__).parent / "data"
CORPUS = [
    row.get("text") or "\n\n".join(each["content"] for each in row["messages"])
    for name in ("corpus.jsonl", "corpus_frozen.jsonl", "corpus_more.jsonl", "corpus_rich.jsonl")
    for row in map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())
] + PROMPTS
CUED = [each for each in registry.builtin().values() if each.cue is not None]
QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def first_of(each: Operator, text: str) -> list[tuple[object, ...]]:
    return list(islice(each.proposals(draft_of(text), Rng(b"cue", each.id)), 1))


def check_cue(each: Operator, text: str) -> bool:
    """Without its cue an operator finds nothing; gives whether the cue is there."""
    assert each.cue is not None
    there = each.cue(draft_of(text))
    if not there:
        assert first_of(dataclasses.replace(each, cue=None), text) == []
    return there


@pytest.mark.parametrize("each", CUED, ids=[each.name for each in CUED])
def test_an_operator_without_its_cue_finds_nothing(each: Operator) -> None:
    there = [check_cue(each, text) for text in CORPUS]
    assert any(there)  # a cue that is never there would switch the operator off
    assert not all(there)  # one that always is would be of no use


@QUICK
@given(text=TEXTS)
def test_an_operator_without_its_cue_finds_nothing_in_any_text(text: str) -> None:
    for each in CUED:
        check_cue(each, text)


def test_an_operator_is_not_asked_without_its_cue() -> None:
    asked = []

    @operator("cued", dimension="lexical", severity=0.1, cue=lambda draft: "x" in draft.free)
    def cued(draft: object, _rng: object) -> list[list[object]]:
        """Counts the questions."""
        asked.append(draft)
        return []

    assert first_of(cued, "Sort the tickets.") == []
    assert asked == []
    assert not cued.suits(draft_of("Sort the tickets."))
    assert first_of(cued, "Fix the tickets.") == []
    assert len(asked) == 1


def check_said(text: str) -> None:
    draft = draft_of(text)
    for sentence, own in zip(draft.sentences, said(draft), strict=True):
        whole = text[sentence.start : sentence.end].lower()
        free = draft.free[sentence.start : sentence.end].lower()
        assert own == (whole, TOKENS.findall(whole) or [""], free, own.plain)
        assert own.plain == (TOKENS.findall(BOUND.sub("", free)) or ([""] if free == whole else []))
        assert said_at(draft)[sentence.start] == own
    assert tokens_of(text.lower()) == TOKENS.findall(text.lower())
    assert heard(draft) == set(TOKENS.findall(text.lower()))


@pytest.mark.parametrize("text", CORPUS)
def test_sentences_are_read_as_a_search_reads_them(text: str) -> None:
    check_said(text)
    check_said(text.replace(" ", "'").replace("e", "é"))


@QUICK
@given(text=TEXTS)
def test_sentences_of_any_text_are_read_as_a_search_reads_them(text: str) -> None:
    check_said(text)


LINES = st.lists(
    st.sampled_from(
        [
            "Return",
            "the",
            "keys",
            "name,",
            "total",
            "and",
            "date.",
            "Answer",
            "with",
            "Yes.",
            "Write",
            "it",
            "as",
            "plain",
            "text.",
            "Say",
            "none.",
            "Reply:",
            "ok.",
            "RESPOND",
            "ONLY",
            "WITH",
            "YES.",
            "Put",
            "Maybe/No.",
            "The",
            "Labels",
            "are",
            "a,",
            "b.",
            "Antworte",
            "mit",
            "ja.",
            "Use",
            "null",
            "or",
            "nil.",
            "Étiquettes",
            "a,",
            "b.",
            "Respond",
            "only",
            "okay.",
            "Campos",
            "uno",
            "y",
            "dos,",
            "tres.",
            "Print",
            "(just",
            "this).",
            "Réponds",
            "par",
            "oui.",
            "Grade",
            "it",
            "as",
            "good",
            "or",
            "bad.",
        ]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


def check_written(text: str) -> None:
    """What a pattern finds in a sentence is among what stays as written, whatever words told to look for it."""
    draft = draft_of(text)
    kept = spared_text.written(draft)
    patterns = spared_text._patterns(re.IGNORECASE)
    names = draft.language != "en" or any(word.lower in spared_text._NAMING for word in draft.words)
    for sentence in draft.sentences:
        start, end = sentence.start, sentence.end
        found = [match.span(match.lastindex or 0) for match in patterns.told.finditer(draft.free, start, end)]
        found += [match.span() for match in patterns.listed.finditer(draft.free, start, end)]
        naming = patterns.naming.search(draft.free, start, end)
        if names and naming is not None:
            found.append((naming.end(), end))
        inner = patterns.inner.search(draft.free, start, end)
        if inner is not None and sentence.kind != "field":
            found.append((inner.start(), end))
        for first, last in found:
            assert first == last or any(a <= first and last <= b for a, b in kept), draft.text[first:last]


@pytest.mark.parametrize("text", CORPUS)
def test_what_stays_as_written_is_what_the_patterns_find(text: str) -> None:
    check_written(text)


TOLD = (
    "Classify it with plain things.|Classify it as plain things.|Put the word maybe.|Classify it the word maybe."
    "|Use the words plain things.|Mark it by plain things.|Schreib es nur als mit klaren Dingen.|Antworte mit klaren Dingen."
    "|Respond par un mot.|Write avec un mot.|Responde con una cosa.|Escreva com uma coisa.|Antwoord met een ding."
    "|Rispondi solo con una cosa.|Antworte nur mit ja.|Answer plainly.|Reply plainly.|Respond plainly.|Say plainly."
    "|Print plainly.|The null stands.|The none stands.|A nil stands.|A nan stands.|A true one.|A false one."
    "|An unknown one.|An undefined one.|A yes stands.|An n/a stands.|It is red or blue.|It is red OR blue."
    "|The keys are red, blue.|The name is one and two.|The tag value, then.|Los campos uno y dos, tres de la lista."
    "|It is so: red things|It is so： red things|Die Felder eins, zwei und drei.|Les colonnes un, deux et trois.|Le chiavi uno, due e tre.|De velden een, twee."
)


@pytest.mark.parametrize("text", TOLD.split("|"))
def test_each_word_that_tells_of_an_answer_is_heard(text: str) -> None:
    check_written(text)
    check_written(f"Please do. {text.upper()} {text}")


@QUICK
@given(text=st.one_of(LINES, TEXTS))
def test_what_stays_as_written_in_any_text_is_what_the_patterns_find(text: str) -> None:
    check_written(text)


@pytest.mark.parametrize(
    ("first", "pattern"),
    [
        ("_GREETS", "_GREETING"),
        ("_THANKED", "_THANKS"),
        ("_CONTENTS", "_CONTENT"),
        ("_LEANING_FIRST", "_LEANING_STARTS"),
        ("_TELLS_A_STORY", "_TELLING"),
    ],
)
def test_a_pattern_finds_nothing_without_one_of_its_first_words(first: str, pattern: str) -> None:
    known = getattr(order, first)
    asked = getattr(order, pattern)
    starts = asked if isinstance(asked, tuple) else re.split(r"[^a-z?]+", asked.pattern)
    phrases = {f"{one}{gap}{two}" for one in starts for gap in (" ", "") for two in (*starts, "x", "")}
    for phrase in phrases:
        matches = phrase.startswith(asked) if isinstance(asked, tuple) else asked.match(phrase)
        if matches:
            assert (TOKENS.findall(phrase) or [""])[0] in known, phrase


@pytest.mark.parametrize(
    ("text", "numbered"),
    [
        ("1. read it", True),
        ("do this: 1) read", True),
        ("(12) read it", True),
        ("x\n12. read it", True),
        ("version 1.2 is out", False),
        ("in 2024. then", False),
        ("level a1. read", False),
        ("it costs 5.", False),
        ("123. read", False),
    ],
)
def test_a_number_in_a_line_is_seen(text: str, numbered: bool) -> None:
    assert order.counts(text, ["do"]) is numbered


@pytest.mark.parametrize(
    ("text", "lettered"),
    [
        ("a) read it", True),
        ("(b) read it", True),
        ("[1] read it", True),
        ("(see it) read", False),
        ("a (b) read", False),
        ("[one] read", False),
        ("", False),
    ],
)
def test_a_letter_before_a_line_is_seen(text: str, lettered: bool) -> None:
    assert order.counts(text, ["do"]) is lettered


def spoken(*lines: str) -> st.SearchStrategy[str]:
    """Texts of the words of some lines, a few to a text."""
    pieces = [word for line in lines for word in line.split("|")]
    return st.lists(st.sampled_from([*pieces, *map(str.upper, pieces)]), min_size=1, max_size=9).map(" ".join)


ORDINALS = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|penultimate|former|latter|1st|22nd|3rd|4th"
    "|earlier|later|topmost|highest|next|previous|preceding"
)
INSTRUCTED = (
    "instructions|instruction|rules|rule|guidelines|guideline|commands|command|requests|request|requirements|requirement"
    "|directions|direction"
)
ORDERS = "one by one|in turn|one after the other|from top to bottom|in this exact order|order of|in which|order|are|in the"


def check_obeyed(text: str) -> bool:
    """Whether a text is obeyed in order, which the expression alone has to say as well."""
    plain = order._OBEYED_IN_ORDER.search(text) is not None
    assert order.obeyed_in_order(draft_of(text)) is plain, text
    return plain


def test_each_word_that_tells_of_instructions_in_order_is_heard() -> None:
    for noun in INSTRUCTED.split("|"):
        assert check_obeyed(f"Obey the second {noun}.")
        assert check_obeyed(f"The {noun.upper()} are obeyed one by one.")
        assert check_obeyed(f"The order in which {noun} stand counts.")
    for ordinal in ORDINALS.split("|"):
        assert check_obeyed(f"The {ordinal} rule wins.")
    for way in ("one by one", "in turn", "one after the other", "from top to bottom"):
        assert check_obeyed(f"Follow the rules {way}.")
    assert check_obeyed("Do it in the order given.")


@QUICK
@given(text=st.one_of(TEXTS, spoken(ORDINALS, INSTRUCTED, ORDERS)))
def test_instructions_in_order_are_told_by_the_expression(text: str) -> None:
    check_obeyed(text)


FORM = (
    "how many|count|counting|all|the|number of|total number of|words|letters|sentences|characters|lines|give|return|what"
    "|exactly|as it is|as written|verbatim|word for word|letter by letter|character by character|unchanged|as they are"
    "|repeat|copy|reproduce|echo|quote|output|print|write|transcribe|cite|extract|text|sentence|language is|language was"
    "|language of the|which|identify|detect|determine|name|guess|.|."
)


def check_topic(text: str) -> None:
    """What the words of a text leave out, none of the expressions finds."""
    draft = draft_of(text)
    words = frozenset(operators._WORD.findall(text.lower()))
    looked_at = operators._topics(words)
    for topic in {id(each): each for cue in words for each in operators._by_cue().get(cue, ())}.values():
        if topic not in looked_at:
            assert not operators._speaks_of_form(draft, [topic]), (text, topic.thing.pattern)


@QUICK
@given(text=st.one_of(TEXTS, spoken(FORM)))
def test_no_topic_is_left_out_that_an_expression_finds(text: str) -> None:
    check_topic(text)


@pytest.mark.parametrize(
    "text",
    [
        "How many words does it have?",
        "Count the letters of the name.",
        "Return the result of counting all words.",
        "Give the number of sentences.",
        "Give the total number of lines.",
        *(f"{act} the language of the text." for act in ("Identify", "Detect", "Determine", "Name", "Guess")),
        "Which language is it?",
        "What language was it?",
        *(
            f"{act} the text {way}."
            for act in re.findall(
                r"\w+", "Return Repeat Copy Reproduce Echo Quote Output Print Transcribe Give Cite Extract"
            )
            for way in ("exactly as written", "verbatim", "word for word", "letter by letter", "unchanged")
        ),
        "Take a pen and write the text verbatim.",
        "Copy the text character by character.",
        "Copy the sentence as it is.",
    ],
)
def test_each_word_that_tells_of_form_is_heard(text: str) -> None:
    assert operators.form_is_topic(draft_of(text)), text


ASKED = "Classify the ticket|Return the label|Please sort it"
HINDERS = (
    "whether|if|do not|don't|don\u2019t|never|please|kindly|make sure|be sure|must|should|; then|: then|\u2014 then"
    "|\u2013 then|make|be|do|iffy|wheth"
)


@pytest.mark.parametrize(
    "text", [f"{a} {b} it stands." for a in ASKED.split("|") for b in HINDERS.split("|")]
)
def test_an_instruction_is_put_as_a_question_where_the_expressions_allow_it(text: str) -> None:
    for each_text in (text, text.upper(), text.replace("it stands", "so")):
        draft = draft_of(each_text)
        for each in addressed(draft):
            start, end = each.sentence[:2]
            hindered = tone._WHETHER.search(draft.free, start, end) or tone._COMMANDING.search(
                draft.free, each.verb.end, end
            )
            plain = each.verb.form[1:] == each.verb.form[1:].lower()
            assert tone._askable(draft, each) is (plain and not hindered), each_text


@pytest.mark.parametrize("direction", ["formal", "casual", "other"])
def test_each_phrase_of_a_register_is_told_by_one_of_its_words(direction: Direction) -> None:
    known = [phrase for _, pairs in _register(direction).values() for phrase, _ in pairs]
    assert known
    for phrase in known:
        assert has_phrases(draft_of(f"{phrase[0].upper()}{phrase[1:]}/so it is."), direction), phrase
    assert not has_phrases(draft_of("Sort it."), direction)


ASKED_FOR = (
    "Answer briefly|Respond with it|Reply in French|Return only it|Output JSON|Print nothing|Give your answer|Provide results"
    "|Write the reply|State your final answer|Put the answer|Express the result|Present results|Format the output"
    "|Structure the answer|Wrap the answer|Keep the answer|Limit the answer|Phrase the answer|Do not explain the"
    "|Don't explain the|Don\u2019t explain the|Never explain the|Do not add comments|Your answer must|The output should"
    "|Use JSON|Please use JSON|Kindly answer briefly|Always use JSON|You must use JSON|You should answer briefly"
)


def check_output(text: str) -> int:
    """How many sentences tell of the answer's form: all of them begin with one of the words that are asked for first."""
    found = [own for own in said(draft_of(text)) if prompt_blocks._OUTPUT.match(own.free)]
    assert [own for own in found if own.tokens[0] not in prompt_blocks._OUTPUT_HEADS] == []
    return len(found)


@pytest.mark.parametrize("text", ASKED_FOR.split("|"))
def test_what_tells_of_the_form_of_an_answer_is_heard_by_its_first_word(text: str) -> None:
    assert check_output(f"{text}. It is so.") == 1
    assert check_output(f"{text.upper()} . It is so.") == 1


@QUICK
@given(text=st.one_of(TEXTS, spoken(ASKED_FOR, ".|.")))
def test_no_sentence_tells_of_form_without_one_of_the_first_words(text: str) -> None:
    check_output(text)
