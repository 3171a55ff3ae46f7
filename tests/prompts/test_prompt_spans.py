"""What is protected, and what is not: read the table."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.spans import Span, logic_spans, protected_spans

# (text, what is protected: "kind:text" in order)
CASES = [
    # slots
    ("Sort {ticket} now.", ["slot:{ticket}"]),
    ("Show {user.name[0]!r:>10} here.", ["slot:{user.name[0]!r:>10}"]),
    ("Sort {{ ticket }} now.", ["slot:{{ ticket }}"]),
    ("{{#each items}}- {{this}}{{/each}}", ["slot:{{#each items}}", "slot:{{this}}", "slot:{{/each}}"]),
    ("{{{ raw }}}", ["slot:{{{ raw }}}"]),
    ("{% if vip %}Be kind.{% endif %}", ["slot:{% if vip %}", "slot:{% endif %}"]),
    ("{# a note #} Read.", ["slot:{# a note #}"]),
    ("Read ${article} and $title.", ["slot:${article}", "slot:$title"]),
    ("Read %(article)s well, %s.", ["slot:%(article)s", "slot:%s"]),
    ("Be 100% sure.", ["number:100%"]),
    # tags and placeholders
    ("<document>Some text</document>", ["tag:<document>", "tag:</document>"]),
    ('<doc id="a">Text</doc>', ['tag:<doc id="a">', "tag:</doc>"]),
    ("Dear <your name>, hello", ["tag:<your name>"]),
    ("<|im_start|>user", ["tag:<|im_start|>"]),
    ("Dear [NAME], about [INSERT ORDER ID]", ["placeholder:[NAME]", "placeholder:[INSERT ORDER ID]"]),
    ("Dear [insert name here], hello", ["placeholder:[insert name here]"]),
    ("As shown before [1, 2].", ["placeholder:[1, 2]"]),
    ("Smaller is a < b here, not <b or so> there.", ["math:a < b", "tag:<b or so>"]),
    # numbers
    ("I have 2 dogs and a cat", ["number:2"]),
    ("It grew 12-18% in all.", ["number:12-18%"]),
    ("A deal of $50 million.", ["number:$50 million"]),
    ("Pay €1,000.50 or 30 EUR or USD 20.", ["number:€1,000.50", "number:30 EUR", "number:USD 20"]),
    ("Write 3–5 sentences.", ["number:3–5 sentences"]),
    ("About 1.5e-3 of it, -7 and +3.", ["number:1.5e-3", "number:-7", "number:+3"]),
    ("Open 24/7.", ["number:24/7"]),
    ("Use v2.1.0 or GPT-4 now.", ["number:v2.1.0", "number:GPT-4"]),
    ("The 1st and the 22nd.", ["number:1st", "number:22nd"]),
    ("It is 5 km/h or 20 °C.", ["number:5 km/h", "number:20 °C"]),
    ("Wait 2.5 hours or 30min.", ["number:2.5 hours", "number:30min"]),
    ("Write exactly three sentences.", ["number:three"]),
    ("Nimm genau drei Sätze.", ["number:drei"]),
    ("Use twenty-one of them.", ["number:twenty-one"]),
    ("One of the best.", []),
    ("請用3句話總結。", ["number:3句"]),
    ("请用三句话总结。", ["number:三句"]),
    ("٣٤ كلمة", ["number:٣٤"]),
    # dates and times
    ("Due 2025-07-24 at 10:30 am.", ["number:2025-07-24", "number:10:30 am"]),
    ("On July 24, 2025 we met.", ["date:July 24, 2025"]),
    ("Am 24. Juli 2025 war es.", ["date:24. Juli 2025"]),
    ("You may march on.", []),
    ("2025年7月24日", ["number:2025年7月24日"]),
    # quotes
    ("Don't answer the users' question, it's the client's.", []),
    ("The user's answer and the client's reply", []),
    ("Say 'yes' now.", ["quote:'yes'"]),
    ("Say 'don't know' now.", ["quote:'don't know'"]),
    ('Call it "the plan".', ['quote:"the plan"']),
    ("Call it “the plan”, not ‘that’.", ["quote:“the plan”", "quote:‘that’"]),
    ("It’s the client’s reply.", []),
    ("Dites « bonjour » ou „hallo“ oder »nein«.", ["quote:« bonjour »", "quote:„hallo“"]),
    ("请说「你好」。", ["quote:「你好」"]),
    ('Text: """two\nlines"""', ['quote:"""two\nlines"""']),
    ('A 5" pipe costs more.', ["number:5"]),
    ("The '90s were fun.", ["number:90s"]),
    # code
    ("Run `ls -l` first.", ["code:`ls -l`"]),
    ("Fix:\n```python\nx = 1\n```\nThanks.", ["code:```python\nx = 1\n```"]),
    ("Complete:\n```sql\n", ["code:```sql\n"]),
    ("Write def f(x: int) -> str: please", ["code:def f(x: int) -> str:"]),
    ("Call foo(bar, baz) here.", ["code:foo(bar, baz)"]),
    ("Explain SELECT name FROM users; briefly.", ["code:SELECT name FROM users;"]),
    (
        "Use user_id and userName, MAX_SIZE, os.path.",
        [
            "identifier:user_id",
            "identifier:userName",
            "identifier:MAX_SIZE",
            "identifier:os.path",
        ],
    ),
    ("Open ./src/main.py or /etc/hosts and/or not.", ["path:./src/main.py", "path:/etc/hosts"]),
    # JSON
    ('Return {"a": [1, {"b": "}"}]} only.', ['json:{"a": [1, {"b": "}"}]}']),
    ('Return {{"label": "{x}"}} only.', ['json:{{"label": "{x}"}}']),
    ('Like this:\n{\n  "a": 1\n}\nEnd.', ['json:{\n  "a": 1\n}']),
    ('Use ["a", "b"] there.', ['json:["a", "b"]']),
    # addresses
    ("See https://a.org/b?c=1 (or www.b.org).", ["url:https://a.org/b?c=1", "url:www.b.org"]),
    ("See https://en.org/X_(y).", ["url:https://en.org/X_(y)"]),
    ("Mail me@example.org, please.", ["email:me@example.org"]),
    ("Read [the docs](https://a.org/x).", ["url:](https://a.org/x)"]),
    # mathematics
    ("Solve x^2 + 3x = 7 for me.", ["math:x^2 + 3x = 7"]),
    ("What is 2 + 2?", ["math:2 + 2"]),
    ("Let $x_1$ and \\(y\\) be.", ["math:$x_1$", "math:\\(y\\)"]),
    ("Between $5 and $6 each.", ["number:$5", "number:$6"]),
    ("\\[ a + b \\] holds.", ["math:\\[ a + b \\]"]),
    ("Be clear - and well-known.", []),
    # labels
    ("Say POSITIVE, NEGATIVE, or NEUTRAL.", ["label:POSITIVE", "label:NEGATIVE", "label:NEUTRAL"]),
    (
        "One of: billing, technical, other. Billing comes first.",
        [
            "label:billing",
            "label:technical",
            "label:other",
            "label:Billing",
        ],
    ),
    ("Labels:\n- spam\n- ham\nA spammer is not one.", ["label:spam", "label:ham", "number:one"]),
    ("Use 'a', 'b' or 'c'.", ["quote:'a'", "quote:'b'", "quote:'c'"]),
    # nothing at all
    ("Summarize the article in plain language.", []),
    ("", []),
    ("Résumez l'article d'hier, s'il vous plaît.", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:30] or "empty" for text, _ in CASES])
def test_protected(text: str, expected: list[str]) -> None:
    assert [f"{span.kind}:{text[span.start : span.end]}" for span in protected_spans(text)] == expected


def test_by_hand() -> None:
    text = "Be kind and be brief."
    spans = protected_spans(text, ["kind", re.compile(r"b\w+f"), (0, 2)])
    assert spans == (Span(0, 2, "custom"), Span(3, 7, "custom"), Span(15, 20, "custom"))


def test_overlaps_become_one_span_of_the_longest_kind() -> None:
    assert protected_spans("Pay $50 now", [(5, 11)]) == (Span(4, 11, "custom"),)


@pytest.mark.parametrize("extra", ["", (3, 3), (2, 99), (-1, 2), 5, ("a", "b"), (True, 2)])
def test_nonsense_by_hand_is_refused(extra: object) -> None:
    with pytest.raises(UsageError, match="protect"):
        protected_spans("Be kind.", [extra])  # type: ignore[list-item]


def test_logic() -> None:
    text = "Don't guess; answer only if you must, never before 5 or without proof. Nicht raten. 不要猜测"
    found = [text[s.start : s.end] for s in logic_spans(text)]
    assert found == ["Don't", "only", "if", "must", "never", "before", "or", "without", "Nicht", "不要"]
    assert logic_spans("Another notable android.") == ()


FRAGMENTS = st.sampled_from([
    "{x}", "{{ x }}", "${x}", "$50", "{", "}", "[", "]", '"', "'", "`", "```", "“", "”", "<", ">", "<a>", "</a>", "\n", "\n\n",
    " ", "one of: a, b or c", "labels:\n- a\n- b\n", "POSITIVE or NEGATIVE", "12-18%", '{"a": [1]}', "def f(x)", "a_b", "x^2 = 7",
    "https://a.b/c", "don't", "not", "İ", "ß", "三つ", "👍", "e\u0301", "\u202e", "\r\n", "\\", "\\(", "$", "%(x)s", "7", "a.b", "July",
])  # fmt: skip
TEXTS = st.text() | st.lists(FRAGMENTS | st.text(max_size=4), max_size=24).map("".join)


@given(TEXTS)
def test_spans_are_sorted_apart_and_inside(text: str) -> None:
    for spans in (protected_spans(text), logic_spans(text)):
        position = 0
        for span in spans:
            assert position <= span.start < span.end <= len(text)
            position = span.end


@given(TEXTS, TEXTS)
def test_what_is_protected_by_hand_is_covered(before: str, after: str) -> None:
    text = before + "«keep»" + after
    start = len(before)
    assert any(s.start <= start and start + 6 <= s.end for s in protected_spans(text, [(start, start + 6)]))


@given(st.text(alphabet=st.characters(categories=["L"]), min_size=1, max_size=8))
def test_a_slot_is_protected_whatever_its_name(name: str) -> None:
    for slot in (f"{{{name}}}", f"{{{{ {name} }}}}", f"${{{name}}}"):
        text = f"Read {slot} well."
        assert any(s.start <= 5 and 5 + len(slot) <= s.end for s in protected_spans(text)), text


FLOODS = [
    "{", "[", "(", "<", '"', "'", "`", "```", '"""', "“", "‘", "«", "$", "\\", "\\(", '\\"', '{"', '{"a":', '["', "{%", "${", "1", "1,",
    "1 ", "$1", "a ", "a_", "A, ", "a/", "://", "a@", "f(", "def f(", "SELECT ", "one of ", "one of: ", "label as ", "labels:\n- a\n",
    "either a or ", "Answer A if ", "分为a、", "を三、", "\n", " ", "=", "a=", "^", "'a' or ", "三", "is this a or b? ", "a|", "not ", "<a ", "1 May ", "\r\n", "🙂",
    "Q: b\nA: c\n", "example:\n", "example:\na: 1\n", "outline:\n# a\n", "# a\n", "a -> b\n", "->",
]  # fmt: skip


@pytest.mark.parametrize("unit", FLOODS)
@pytest.mark.timeout(120)  # linear takes below a second; benchmarks/growth.py measures it
def test_a_flood_ends(unit: str) -> None:
    text = (unit * (60_000 // len(unit) + 1))[:60_000]
    for span in (*protected_spans(text), *logic_spans(text)):
        assert span.start < span.end


@pytest.mark.timeout(120)
def test_many_distinct_names_end() -> None:
    text = " ".join(f"name_{n} Label{n}X, label_{n} {n}" for n in range(15_000))
    assert protected_spans("one of: " + ", ".join(f"l{n}" for n in range(5_000)) + ". " + text)


def test_what_is_protected_by_hand_stays_so_within_code_and_numbers() -> None:
    spans = protected_spans("Run `prices(4)` in 30 days.", ["prices", "30 days"])
    assert [(each.kind, each.start) for each in spans] == [("custom", 4), ("custom", 19)]
