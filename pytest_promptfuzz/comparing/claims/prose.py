"""Two answers in prose, compared claim by claim: contradictions, edited statements, and what entailment settles."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.claims.facts import (
    added_figure,
    added_name,
    around,
    beside,
    changed_cell,
    changed_figure,
    changed_name,
    unmatched,
)
from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.guards import checks, negations, order, qualifiers
from pytest_promptfuzz.comparing.guards.negations import clause, written
from pytest_promptfuzz.comparing.guards.pair import SHORT, Finding, Pair, contradiction, doubt
from pytest_promptfuzz.comparing.meaning import cosine, nine_cases
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.answer import read
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.word_lists import FUNCTION_WORDS, NEGATORS, word_set
from pytest_promptfuzz.comparing.reading.words import canonical, canonical_set, stem, stem_set
from pytest_promptfuzz.comparing.shared_words import ENTAILMENT, elsewhere, one_sided, rearranged, same_words
from pytest_promptfuzz.data.tables import when_used

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.meaning import Embedder, Entailment
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.comparing.reading.answer import Answer, Statement, Token
    from pytest_promptfuzz.comparing.reading.pieces import Piece
    from pytest_promptfuzz.comparing.reading.text import Text


_LOOSE = canonical_set(
    """only all any entire whole sell sold buy purchase give take enter exit before after until together alone twice
    half leave stay must may can receive get send start begin end finish continue stop connect separate live die
    afford affordable cost"""
)
"""Words that a rewording may use for their contraries, as "before" and "after" with the parts turned round."""
_EXCLUDING = when_used(
    lambda: (
        (qualifiers.TRIGGERS | frozenset(negations.TRIGGERS)) - frozenset(_LOOSE) - word_lists.FUNCTION_WORDS
    )
)
"""Words that may have a contrary."""
_BESIDE = 2
"""Telling words beside both, from which they are said of the same thing."""
_SHORT = 2
"""Other telling words of a short statement: "Decision: reject the return"."""


def contrary(baseline: Answer, response: Answer) -> Finding | None:
    """A word of the baseline whose contrary is said of the same thing in the response, as often denied."""
    gone = (baseline.stems & _EXCLUDING) - response.stems
    come = (response.stems & _EXCLUDING) - baseline.stems
    contraries = {each: {other for other in come if _exclude(each, other)} for each in gone}
    for token in baseline.standing([each for each in gone if contraries[each]]):
        for other in response.standing(contraries[token.stem]):
            if other.telling and _of_the_same(token, other) and _negators(token) == _negators(other):
                return contradiction("opposites", "word-became", token.text, other.text)
    return None


def _exclude(one: str, two: str) -> bool:
    return two in qualifiers.excluded_by(one) or negations.opposed(one, two)


def _of_the_same(one: Token, two: Token) -> bool:
    """Whether two words stand by the same ones, or in short statements of which one has a word of the other."""
    if len(around(one) & around(two)) >= _BESIDE:
        return True
    here, there = beside(one), beside(two)
    return min(len(here), len(there)) <= _SHORT and not here.isdisjoint(there)


def _negators(token: Token) -> int:
    """How many there are in the statement: "not full" is what "half" may say."""
    return sum(other.stem in word_lists.NEGATORS for other in token.statement.pieces)


# What one answer denies and the other says.


_VERBS = "refuse fail deny reject lack avoid prevent exclude forbid prohibit refrain"
_DENYING = stem_set(_VERBS)
"""Verbs that deny what follows them."""
_HINTS = when_used(lambda: word_lists.NEGATORS.union(*map(canonical, _VERBS.split())))
"""What a statement has that denies something."""
_NO_DENIAL = {("not", "only"), ("not", "just"), ("not", "hesitate")} | {
    ("no", word)
    for word in ("later", "more", "longer", "less", "matter", "problem", "earlier", "fewer", "doubt")
}
_STOPS = frozenset(".;:!?()|–—,→")
_CLAUSES = word_set("but because since as so unless while although if when which who")
_AHEAD, _BACK = 5, 3


class Denial(NamedTuple):
    """A negator with the telling words it may deny.

    Attributes:
        negator: It.
        ahead: The words behind it, up to the end of its clause.
        back: Those before it.
    """

    negator: Token
    ahead: list[Token]
    back: list[Token]


@lru_cache(maxsize=64)
def denials(answer: Answer) -> list[Denial]:
    """Every denial of an answer."""
    return [denial for each in answer.statements for denial in _of_statement(each)]


def _of_statement(statement: Statement) -> list[Denial]:
    found: list[Denial] = []
    if _HINTS.isdisjoint(statement.stems):
        return found
    for at, piece in enumerate(statement.pieces):
        if piece.kind != "word":
            continue
        negates = piece.stem in word_lists.NEGATORS
        if not negates and stem(piece.low) not in _DENYING:
            continue
        token = statement.token(at)
        following = next((each for each in statement.pieces[at + 1 :] if each.kind != "mark"), None)
        if following is not None and {(token.stem, following.low), (token.low, following.low)} & _NO_DENIAL:
            continue
        ahead = _clause(statement, range(at + 1, len(statement.pieces)), _AHEAD)
        back = _clause(statement, range(at - 1, -1, -1), _BACK) if negates else []
        found.append(Denial(token, ahead, back))
    return found


def _clause(statement: Statement, places: range, most: int) -> list[Token]:
    found: list[Token] = []
    for at in places:
        piece = statement.pieces[at]
        if (piece.kind == "mark" and piece.text in _STOPS) or piece.low in _CLAUSES or len(found) == most:
            break
        if piece.telling:
            found.append(statement.token(at))
    return found


def one_sided_denial(baseline: Answer, response: Answer) -> Finding | None:
    """A doubt where what one answer denies is not denied in the other.

    In another wording it may be said without a "not"; in a statement that was kept, ``counterparts`` tell.
    """
    for one, two, which in ((baseline, response, "baseline"), (response, baseline, "response")):
        answered = denials(two)
        for denial in denials(one):
            denied = denial.ahead or denial.back
            spoken_of = any(_related(word, each) for word in denied for each in two.telling)
            if spoken_of and not _is_shared(denial, answered):
                said = clause(
                    denial.negator.statement.text, denial.negator.low.__eq__, denied[0].text.lower()
                )
                return doubt("negation", "only-says", which, said)
    return None


def _related(one: Token, two: Token | Piece) -> bool:
    same_start = len(one.stem) > 4 and len(two.stem) > 4 and one.stem[:5] == two.stem[:5]
    return one.key == two.key or same_start


def _is_shared(denial: Denial, others: list[Denial]) -> bool:
    words = denial.ahead + denial.back
    return any(
        _related(word, each) for other in others for each in other.ahead + other.back for word in words
    )


# Statements that both answers make in nearly the same words, and what changed within them.


_KEPT_OF_WORDS = 0.75
"""Share of words, in order, from which two statements are one that was edited."""
_KEPT_STEMS = 0.5
"""Share of stems, in any order, without which no two statements have as many words in order."""
_KEPT_WHOLE = 0.8
"""The same of two answers."""
_FEWEST_SHARED = 3
_MOST = 60
"""Statements of an answer that are compared with each other."""
_GUARDS = ("negation", "choices", "modality", "conditions", "roles")
"""What is told from an edited statement alone; figures and names are compared for the whole answer."""
_WEIGHTY = word_set(
    """i you he she we they me him her us them my your his our their to from by for with without before after until
    since over under above below up down in out on off if unless only and or all any each both either neither"""
)
"""Function words that tell who does what to whom, and when."""
_SMALL = tuple(
    map(
        word_set,
        ("and or", "before after once until while", "both each either", "this next last", "within over"),
    )
)
"""Small words of one kind, of which one for another changes what an otherwise equal statement says."""
_LIMITING = NEGATORS | word_set("only if unless except until provided but however may might could")
"""Words that take something back from what was said, where one answer alone has them."""


def edited(baseline: Answer, response: Answer, whole: Pair, names: Collection[str]) -> Finding | None:
    """What changed in a statement that was kept but for an edit.

    Args:
        baseline: The one answer.
        response: The other one.
        whole: Their texts.
        names: The guards that may contradict.

    Returns:
        A contradiction that a guard found, or a doubt: what an edit changed and no guard knows.
    """
    steps = order.check_steps(whole) if "sequence" in names else None
    if steps and (steps.kind == "contradiction" or "1." in baseline.text):
        doubtful: Finding | None = steps
    else:
        doubtful = _edit(whole) if whole.similarity >= _KEPT_WHOLE else None
    if doubtful and doubtful.kind == "contradiction":
        return doubtful
    asked = tuple(name for name in _GUARDS if name in names)
    there = {each.folded for each in response.statements}
    for statement in baseline.statements[:_MOST]:
        if statement.folded in there:
            continue
        pair = _counterpart(statement, response)
        if pair is None:
            continue
        found = next((each for each in checks.run(pair, asked) if each.kind == "contradiction"), None)
        if found:
            return found
        doubtful = doubtful or _edit(pair)
    return doubtful


def _counterpart(statement: Statement, response: Answer) -> Pair | None:
    """The statement of the response with the most words of this one, in order."""
    if sum([each.kind == "word" for each in statement.pieces]) < _FEWEST_SHARED:
        return None
    best, most = None, _KEPT_OF_WORDS
    for other in response.statements[:_MOST]:
        shared = len(statement.stems & other.stems)
        if shared < _KEPT_STEMS * min(len(statement.stems), len(other.stems)):
            continue
        pair = Pair(analyse(statement.text), analyse(other.text))
        if pair.similarity > most:
            best, most = pair, pair.similarity
    return best


def _edit(pair: Pair) -> Finding | None:
    gone, come = pair.changed
    old, new = (sorted(tokens - FUNCTION_WORDS | tokens & _WEIGHTY) for tokens in (gone, come))
    if old and new:
        words = written(pair, old[0]), written(pair, new[0], response=True)
        alone = len(old) == len(new) == 1
        if alone and any(old[0] in kind and new[0] in kind for kind in _SMALL):
            return contradiction("choices", "word-became", *words)
        return doubt("wording", "word-became", *words)
    if old:
        return doubt("wording", "only-has", "baseline", written(pair, old[0]))
    limiting = [word for word in new if word in _LIMITING]
    if limiting:
        return doubt("wording", "only-has", "response", written(pair, limiting[0], response=True))
    if (
        not gone
        and not come
        and pair.a.tokens != pair.b.tokens
        and sorted(pair.a.tokens) == sorted(pair.b.tokens)
        and not same_words(pair)
    ):
        return Finding("wording", "doubt", elsewhere(pair))
    return None


# Two answers in prose, compared claim by claim; what words leave open is settled by a model of entailment.


def changed_places(one: Answer, two: Answer) -> Finding | None:
    """Two parties, figures, modifiers or clauses of which each stands in the response where the other stood."""
    exchanged = arranged(one, two).exchanged()
    return contradiction("roles", "changed-places", *exchanged) if exchanged else None


_COMPARERS: dict[str, Callable[[Answer, Answer], Finding | None]] = {
    "fields": changed_cell,
    "numbers": changed_figure,
    "names": changed_name,
    "roles": changed_places,
    "choices": contrary,
    "negation": one_sided_denial,
}
"""What may contradict, by the guard that a profile names."""
_NOT_EQUAL = (Tier("exact", 0.0), Tier("normalised", 0.0))
_KEPT = 0.9
"""Share of the baseline's words, in order, that an answer has which says the same and more."""
_APART = {"numbers": 0.45, "names": 0.6}
"""Share of either answer's telling words that the other lacks, from which a missing figure, or name, decides."""
_ENOUGH = 12
"""Telling words of an answer from which their share is looked at."""


def is_prose(one: Text, two: Text) -> bool:
    """Whether two answers are read claim by claim: both tables, or in English and longer than a short statement."""
    if max(len(one.raw), len(two.raw)) > LONGEST:
        return False
    if all(text.raw.count("\n|") >= _TABLE for text in (one, two)):
        return True
    return max(len(one.tokens), len(two.tokens)) > SHORT and _is_english(one) and _is_english(two)


def _is_english(text: Text) -> bool:
    words = text.words
    if not words or sum(map(_ENGLISH.__contains__, words)) < _SHARE * len(words):
        return False
    answer = read(text.raw)
    return len(answer.codes) < _IDENTIFIERS * len(answer.words)


LONGEST = 6_000
"""Characters: of longer answers, what they share at both ends is set aside first, see ``long``."""
_ENGLISH = word_set(
    """the a an of to in is are was were be and or for with on at by from that this it its you your we they not no as
    has have will can if which who their his her but"""
)
_TABLE = 2
"""Further lines of a Markdown table, whose cells are bound to their row and column."""
_IDENTIFIERS = 0.2
"""Identifiers for each word from which a text is a program or a query."""
_SHARE = 0.05
"""Of these words in English prose; telegraphic lists have fewer than half as many as sentences."""


def compare_claims(first: str, second: str, profile: Profile, *, semantic: Embedder | None) -> Comparison:
    """Compare two answers in prose.

    What contradicts decides. Otherwise they are equivalent where they have the same words of meaning in an order that
    tells nothing, and minor where the response says all that the baseline says, in its words, and more. What is left
    words cannot tell: it is undecided, and no similarity of meaning makes it equivalent. One below the profile's
    ``minor_at`` shows that the answers are about different things.

    Args:
        first: The baseline.
        second: The response.
        profile: Its guards are asked, and its thresholds hold.
        semantic: Embeds the answers; ``None`` leaves that tier out.
    """
    one, two = read(first), read(second)
    pair = Pair(analyse(first), analyse(second))
    tiers: tuple[Tier, ...] = (*_NOT_EQUAL, Tier("token", pair.similarity))
    doubts: list[Finding] = []
    for found in _findings(one, two, pair, profile):
        contradicts = found.kind == "contradiction"
        tier = Tier(f"guard:{found.guard}", 0.0 if contradicts else None, found.observed)
        tiers += (tier,)
        if contradicts:
            return Comparison("deviation", 0.0, tier.name, found.observed, tiers)
        doubts.append(found)
    same = None if doubts else same_words(pair)
    if same:
        return Comparison("equivalent", max(pair.similarity, profile.equivalent_at), "token", same, tiers)
    gone, come = unmatched(one, two), unmatched(two, one)
    other = _another_answer(doubts, min(_share(gone, one), _share(come, two)))
    if other:
        observed = Observation("other-claims", other.observed, one_sided(gone, come) or "")
        return Comparison("deviation", 0.0, "claims", observed, tiers)
    added = _added(one, two, come)
    if added and not doubts and not gone and _within(pair) >= _KEPT:
        return Comparison("minor", pair.similarity, "claims", Observation("response-adds", added), tiers)
    left_open = doubts[0].observed if doubts else one_sided(gone, come) or elsewhere(pair)
    if semantic is not None:
        meaning = cosine(*semantic.embed([first, second]))
        tiers += (Tier("semantic", meaning),)
        if meaning < profile.minor_at:
            observed = Observation("other-meaning", meaning, profile.minor_at, left_open, "")
            return Comparison("deviation", meaning, "semantic", observed, tiers)
    observed = Observation("words-cannot-tell", left_open, ENTAILMENT)
    return Comparison("undecided", None, "claims", observed, tiers)


def _findings(one: Answer, two: Answer, pair: Pair, profile: Profile) -> Iterator[Finding]:
    for name, compare in _COMPARERS.items():
        found = compare(one, two) if name in profile.guards else None
        if found:
            yield found
    found = edited(one, two, pair, profile.guards)
    if found:
        yield found


def _another_answer(doubts: list[Finding], apart: float) -> Finding | None:
    """A figure or name that is missing where the words are others as well: one alone may be left out or paraphrased."""
    return next((each for each in doubts if apart > _APART.get(each.guard, 1.0)), None)


def _share(words: list[str], answer: Answer) -> float:
    """The share of an answer's telling words that these are, 0..1; 0 of few words, of which a share tells little."""
    known = len({token.stem for token in answer.telling})
    return len(words) / known if known >= _ENOUGH else 0.0


def _added(one: Answer, two: Answer, come: list[str]) -> str | None:
    """The statement, or the word within one that was kept, by which the response says more.

    A statement of its own that speaks of what the baseline speaks of may contradict it: then nothing is sure.
    """
    figure = added_figure(one, two)
    new = {*come, *([figure.written] if figure else []), *filter(None, [added_name(one, two)])}
    if not new:
        return None
    known = {each.folded for each in one.statements}
    for statement in two.statements:
        telling = statement.keys
        own = telling - one.keys
        if not own or statement.folded in known:
            continue
        if len(own) < len(telling) and len(own) >= len(telling) / 2:
            return None
        return statement.text if own == telling else min(new)
    return min(new)


def _within(pair: Pair) -> float:
    """The share of the baseline's words that the response has in their order, 0..1."""
    one, two = len(pair.a.tokens), len(pair.b.tokens)
    return pair.similarity * (one + two) / 2 / one if one else 0.0


# What words leave open, settled by entailment in both directions, claim by claim.


_WINDOW = 2
"""Statements of the other answer that a claim is held against: those that share the most telling words with it."""
_FEWEST = 2
"""Words from which a statement is a claim; headings and marks are none."""
_SURE = 0.9
"""Probability from which a claim follows or contradicts: an answer has many claims, and one of them decides."""
_SIMILARITIES = {"equivalent": 1.0, "minor": 0.8, "deviation": 0.0}
_OPEN = frozenset({"claims", "no-semantic-tier", "semantic"})
"""Reasons of an undecided comparison of texts that were read, not given up as too long or of no kind."""


def settled(first: str, second: str, found: Comparison, entailment: Entailment) -> Comparison:
    """An undecided comparison of two answers, settled where a model tells entailment.

    Each claim of an answer is a hypothesis, the statements of the other that speak of it are the premise. All claims of
    both following: equivalent. One that contradicts, both ways: deviation. All of one answer following, and some of
    the other's left open: minor, one of them says more. Otherwise undecided. What has most of its words of meaning in
    another arrangement is never made equivalent or minor: small models do not see it.
    """
    if found.reason not in _OPEN or max(len(first), len(second)) > LONGEST:
        return found
    one, two = read(first), read(second)
    ahead, back = _questions(two, one), _questions(one, two)
    if not ahead or not back:
        return found
    asked = [*ahead, *back]
    verdicts = entailment.scores([(each.premise, each.claim) for each in asked])
    contradicted = [
        each for each, verdict in zip(asked, verdicts, strict=True) if verdict.label(_SURE) == "contradiction"
    ]
    if contradicted:
        # What contradicts is contradicted in turn: one of many claims is easily misjudged one way, seldom both ways.
        turned = entailment.scores([(each.claim, each.nearest) for each in contradicted])
        for each, verdict in zip(contradicted, turned, strict=True):
            if verdict.label(_SURE) == "contradiction":
                return _told(found, "deviation", Observation("claim-contradicts", each.claim, each.nearest))
        return _untold(found)
    follow = [verdict.label(_SURE) == "entailment" for verdict in verdicts]
    if not (unmatched(one, two) or unmatched(two, one)) or rearranged(Pair(analyse(first), analyse(second))):
        return _untold(found)
    # The claim that follows least stands for its answer.
    weakest = [
        min(range(*span), key=lambda index: verdicts[index].entailment)
        for span in ((0, len(ahead)), (len(ahead), len(asked)))
    ]
    outcome = nine_cases(*(verdicts[index] for index in weakest), sure_at=_SURE)
    if outcome == "equivalent":
        return _told(found, outcome, Observation("all-claims-follow"))
    if outcome == "minor":
        which, index = ("response", weakest[1]) if follow[weakest[0]] else ("baseline", weakest[0])
        return _told(found, outcome, Observation("only-claims", which, asked[index].claim))
    return _untold(found)


class _Question(NamedTuple):
    """Whether a claim follows from the statements of the other answer that speak of it; the nearest of them."""

    premise: str
    claim: str
    nearest: str


def _questions(premises: Answer, claims: Answer) -> list[_Question]:
    return [
        _question(statement, premises)
        for statement in claims.statements
        if sum(token.kind in {"word", "figure"} for token in statement.pieces) >= _FEWEST
    ]


def _question(claim: Statement, answer: Answer) -> _Question:

    def shared(index: int) -> int:
        return len(claim.keys & answer.statements[index].keys)

    ranked = sorted(range(len(answer.statements)), key=lambda index: (-shared(index), index))[:_WINDOW]
    texts = [_text(answer.statements[index]) for index in sorted(ranked)]
    return _Question(" ".join(texts), _text(claim), _text(answer.statements[ranked[0]]))


def _text(statement: Statement) -> str:
    return f"{statement.heading}: {statement.text}" if statement.heading else statement.text


def _told(found: Comparison, outcome: Outcome, observed: Observation) -> Comparison:
    similarity = _SIMILARITIES[outcome]
    tiers = (*found.tiers, Tier("entailment", similarity, observed))
    return Comparison(outcome, similarity, "entailment", observed, tiers)


def _untold(found: Comparison) -> Comparison:
    """What stays undecided, without the advice to ask the model that was asked."""
    observed = found.observed
    if isinstance(observed, Observation):
        observed = observed.with_others(_ENTAILMENT_ASKED)
    return found.but(explanation=observed, tiers=(*found.tiers, Tier("entailment", None)))


_ENTAILMENT_ASKED = {
    "entailment-would-settle": Observation("entailment-cannot-tell"),
    "meaning-would-settle": Observation("meaning-would-settle-not-entailment"),
}
