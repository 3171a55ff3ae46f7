from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import HealthCheck, example, given, settings
from mutation_samples import PROMPTS, TEXTS, draft_of

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import Edit, apply_edits, check_edits, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.spans import labels, logic_spans
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.text.expressions import fold

ALL = list(builtin().values())


def made_by(
    each: Operator, text: str, *, seeds: int = 1, most: int = 12
) -> list[tuple[tuple[Edit, ...], str]]:
    draft = draft_of(text)
    found = []
    for seed in range(seeds):
        proposals = each.proposals(draft, Rng(root_key(seed, text), each.id))
        found += [(edits, apply_edits(text, edits)) for edits in islice(proposals, most)]
    return found


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_the_example_is_true(each: Operator) -> None:
    assert each.example is not None
    before, after = each.example
    assert after in {text for _, text in made_by(each, before, seeds=40, most=20)}


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_the_description_is_complete(each: Operator) -> None:
    assert each.summary.endswith(".")
    assert each.sources
    assert 0 < each.severity < 1
    assert each.trusted


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
@given(text=TEXTS)
@example(text="a {x}")
@example(text="ŉß İ {x} ﬁ")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_protected_text_stays_whatever_the_prompt(each: Operator, text: str) -> None:
    draft = draft_of(text)
    for edits, after in made_by(each, text, most=3):
        check_edits(edits, len(text), draft.protected(each.touches), source=each.name)
        assert after != text or each.dimension == "structural"  # two equal sentences may change places
        for start, end in draft.protected(each.touches):
            assert text[start:end] in after


@pytest.mark.parametrize("text", PROMPTS)
def test_case_and_space_operators_change_nothing_else(text: str) -> None:
    for each in ALL:
        for _, after in made_by(each, text, seeds=3, most=3):
            assert (fold(after) == fold(text)) == each.surface, (each.name, after)


@pytest.mark.parametrize("text", PROMPTS)
def test_what_the_meaning_hangs_on_survives_everywhere(text: str) -> None:
    digits = re.compile(r"(?<![A-Za-z])\d+")  # noise puts some between letters: l0ok
    numbers = sorted(digits.findall(re.sub(r"(?m)^\d+\. ", "", text)))
    slots = sorted(re.findall(r"\$?\{+ ?\w+ ?\}+", text))
    strong = re.compile(
        r"\b(?:not|n.t|never|without|only|but|avoid|refrain|leave|just|no|nothing|nicht|nur|ausschließlich|cannot)\b|n['’]t\b",
        re.IGNORECASE,
    )
    for each in ALL:
        if each.dimension in {"math", "control"}:  # these change numbers, or what the answer hangs on
            continue
        for _, after in made_by(each, text, seeds=3, most=4):
            bare = re.sub(r"(?m)^\d+[.)] ", "", after)
            assert sorted(digits.findall(bare)) == numbers, each.name
            assert sorted(re.findall(r"\$?\{+ ?\w+ ?\}+", after)) == slots, each.name
            assert len(strong.findall(after)) >= len(strong.findall(text)), (each.name, after)
            for label in labels(text):
                assert after.count(label) == text.count(label), each.name


def test_typos_spare_logic_and_make_no_words() -> None:
    text = "Never write before reading; answer without quoting, unless three quiet angles form trails from sacred diary."
    logic = {text[start:end] for start, end, _ in logic_spans(text)}
    assert logic
    for name in ("keyboard-typo", "transposition-typo"):
        texts = {after for _, after in made_by(builtin()[name], text, seeds=60, most=10)}
        assert len(texts) > 20
        for after in texts:
            words = re.findall(r"[A-Za-z]+", after)
            assert logic <= set(words)
            assert not {"quite", "angels", "trials", "scared", "dairy"} & set(words)
            assert [word[0] for word in words] == [word[0] for word in re.findall(r"[A-Za-z]+", text)]


UNSAFE = [
    ("sentence-shuffle", "First read the text. Then classify it. Finally answer."),
    ("sentence-shuffle", "Read the ticket. It may be long. This matters."),
    ("sentence-reverse", "Classify the following text. The labels below apply."),
    ("sentence-reverse", "Here is the review: {review}. Be brief:"),
    ("bullet-reorder", "Do:\n- First read\n- Then write"),
    ("bullet-reorder", "Pick:\n- one;\n- two; or\n- three."),
    ("numbered-to-bulleted", "Follow the steps:\n1. Read\n2. Write"),
    ("context-first", "Text:\n{text}"),
    ("context-first", "Classify the following review:\n\n{review}"),
    ("context-first", "See the next part.\n\nText: {text}"),
    ("contraction", "Make it as good as it is."),
    ("contraction", "Do NOT answer."),
    ("expansion", "Isn't it late?"),
    ("expansion", "It's been late."),
    ("synonym", "Keep it short-lived, HELPFUL and McGive."),
    ("politeness", "Answer key"),
    ("instruction-paraphrase", "Put your answer in the box."),
    ("instruction-paraphrase", "Return ONLY the label."),
    ("keyboard-typo", "Is it so?"),
    ("sentence-shuffle", "Lies den Text. Er ist lang. Antworte dann."),
    ("context-first", "Fasse den folgenden Text in einem Satz zusammen.\n\nText: {text}"),
    ("imperative-to-question", "Answer with yes or no."),
    ("synonym", "Answer the question.\n\nQuestion: {question}"),
    ("synonym", "Answer the question.\n\n{question}"),
    ("sentence-reverse", "Read the ticket. Finally answer the customer."),
    ("synonym", "Resume el texto y provide de la lista en el estilo de los que son."),
]


@pytest.mark.parametrize(("name", "text"), UNSAFE)
def test_nothing_rather_than_harm(name: str, text: str) -> None:
    assert made_by(builtin()[name], text, seeds=5, most=5) == []


HARMLESS = [
    (
        "synonym",
        "Give an overview.",
        {"Provide an overview.", "Supply an overview.", "Give a synopsis.", "Give a summary."},
    ),
    ("synonym", "Use the essential facts.", {"Use the vital facts.", "Use the crucial facts."}),
    ("synonym", "This includes mistakes.", {"This incorporates mistakes.", "This includes errors."}),
    (
        "expansion",
        "Don't stop, we're here.",
        {"Do not stop, we are here.", "Do not stop, we're here.", "Don't stop, we are here."},
    ),
    (
        "numbered-to-bulleted",
        "Rules:\n1. Be brief\n2. Be kind",
        {"Rules:\n- Be brief\n- Be kind", "Rules:\n* Be brief\n* Be kind", "Rules:\n• Be brief\n• Be kind"},
    ),
    ("bullet-restyle", "- a\n- b", {"* a\n* b", "• a\n• b"}),
    ("context-last", "Text: {t}\n\nClassify the text above.", {"Classify the text below.\n\nText: {t}"}),
    (
        "context-first",
        "Classify the review below.\n\nReview: {r}\n\nLabel:",
        {"Review: {r}\n\nClassify the review above.\n\nLabel:"},
    ),
    (
        "sentence-reverse",
        "Be brief. Read the ticket. It may be long.",
        {"Read the ticket. It may be long. Be brief."},
    ),
    ("drop-terminal-punctuation", "Stop. Go.\n\nNow?", {"Stop. Go\n\nNow?"}),
    ("title-case", "don't {x}s stop", {"Don't {x}s Stop"}),
]


@pytest.mark.parametrize(("name", "text", "some"), HARMLESS)
def test_what_operators_make(name: str, text: str, some: set[str]) -> None:
    made = {after for _, after in made_by(builtin()[name], text, seeds=30, most=10)}
    assert some & made, made
    if name != "synonym":
        assert made <= some, made


def test_a_users_operator_is_ten_lines_and_is_checked() -> None:
    @operator("shout", dimension="lexical", severity=0.2, example=("Stop.", "Stop!"))
    def shout(draft, rng):
        """A full stop turned into an exclamation mark."""
        for place in [i for i, c in enumerate(draft.free) if c == "."]:
            yield [replace(place, place + 1, "!")]

    assert shout.summary == "A full stop turned into an exclamation mark."
    assert [after for _, after in made_by(shout, "Go. 1.5")] == ["Go! 1.5"]

    @operator("bad", dimension="lexical", severity=0.2)
    def bad(draft, rng):
        yield [replace(0, len(draft.text), "gone")]

    with pytest.raises(UsageError, match="Operator 'bad' loses the protected span"):
        made_by(bad, "Say {x}")

    @operator("worse", dimension="lexical", severity=0.2)
    def worse(draft, rng):
        yield "text"

    with pytest.raises(UsageError, match="yield a list of Edit"):
        made_by(worse, "Say it")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Shout It"}, "kebab-case"),
        ({"name": "lexical"}, "dimension"),
        ({"dimension": "lexicl"}, "Did you mean 'lexical'"),
        ({"severity": 2}, "from 0 to 1"),
        ({"version": 0}, "from 1"),
        ({"preserves": "maybe"}, "is not one of yes, conditional, no"),
        ({"relation": "invariant"}, "invariance"),
        ({"propose": 3}, "function"),
    ],
)
def test_a_wrong_description_is_refused(change: dict[str, object], message: str) -> None:
    good = {"name": "x", "propose": lambda draft, rng: [], "dimension": "lexical", "severity": 0.1}
    Operator(**good)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        Operator(**{**good, **change})  # type: ignore[arg-type]
