"""Words that praise and words that complain, and how much praise a text holds."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

from pytest_promptfuzz.targets.simulated.words import WORD, distance, listed, plain, stem

PRAISE = """
amazing awesome beautiful beautifully best better brilliant charming cheerful clean comfortable comfy
compliment convenient cool crisp delicious delight delighted delightful easy efficient elegant enjoy enjoyed
enjoyable enjoying excellent exceeded exceeds exceptional excited exciting fabulous fair fantastic fast
favorite favourite fine flawless flawlessly fresh friendly fun funny generous genius glad gorgeous grateful
great handy happy happily heaven helpful helped honest impressed impressive improved incredible inexpensive
interesting intuitive joy kind love loved lovely loves loving magnificent marvelous masterpiece memorable
neat nice nicely outstanding perfect perfectly pleasant pleased pleasure polite powerful praise prompt
promptly quick quickly recommend recommended refreshing reliable remarkable responsive rich robust satisfied
satisfying satisfaction sharp sleek smart smooth smoothly solid spectacular spotless stellar sturdy stunning
stylish success superb superior sweet swift tasty tender terrific thank thanks thankful thorough thrilled
top-notch treat unbeatable useful vibrant warm welcoming well win wonderful wonderfully works worked worth
wow yummy affordable attentive authentic bargain beloved crystal durable dependable effortless fits gem good
hilarious juicy legit comfortably bonus happier easier glove flavorful five-star
"""
BLAME = """
abysmal angry annoyed annoying appalled appalling atrocious avoid awful awkward bad badly bland boring broke
broken bug buggy burnt cheap cheaply clumsy clunky cold complain complaint confusing cracked crap crappy
crash crashed crashes crashing damaged dead defect defective delay delayed died dies dirty disappoint
disappointed disappointing disappointment disaster disgusted disgusting dishonest dislike disrespectful
dreadful dry dull expensive fail failed fails failing failure fake flawed flimsy freezes frozen frustrated
frustrating frustration garbage gross hate hated hates hideous horrendous horrible horribly ignored
impossible inaccurate incompetent inconvenient inedible inferior insult irritated irritating joke junk lack
lacking lacks lame late leaked leaking lied lousy loud mediocre mess messy miserable misleading missing
mistake nasty nightmare noisy overcooked overpriced overrated painful pathetic poor poorly pointless problem
problems refund regret return returned returning rip-off rotten rude rubbish ruined sad scam scratched shame
shoddy sick slow slowly sloppy smelly soggy sorry stale stolen stopped stuck stupid sucked sucks tasteless
terrible terribly tiny tired torture trash ugly unacceptable uncomfortable underwhelming undercooked
unfortunately unfriendly unhappy unhelpful unprofessional unreliable unresponsive unsatisfied unusable upset
useless waste wasted waited waiting weak weird worse worst worthless wrong yuck faulty greasy muffled mushy
static drops lost unpleasant uninspired insulting hostile fury furious outrageous
"""
STRONG = frozenset(
    listed(
        """
        love loved loves hate hated terrible horrible awful excellent amazing fantastic perfect
        perfectly worst best disgusting wonderful outstanding superb brilliant disaster useless
        garbage appalling dreadful waste delighted furious
        """
    )
)
NEGATIONS = frozenset(
    listed(
        """
        not no never none nothing nobody hardly barely scarcely cannot can't don't doesn't
        didn't won't isn't wasn't aren't weren't wouldn't couldn't shouldn't haven't hasn't
        without lack dont doesnt didnt wont isnt wasnt cant neither nor ain't
        """
    )
)
BOOSTERS = frozenset(
    listed(
        """
        very really extremely absolutely totally so incredibly highly super completely utterly
        truly too
        """
    )
)
TURNS = frozenset(["but", "however", "although", "though", "yet", "except"])
SCOPE = 3
"""Words before a feeling in which a negation turns it round."""
ICONS = {":)": 1.0, ":-)": 1.0, ":(": -1.0, ":-(": -1.0, "\U0001f600": 1.0, "\U0001f60a": 1.0, "\u2764": 1.5,
         "\U0001f44d": 1.0, "\U0001f44e": -1.0, "\U0001f621": -1.5, "\U0001f620": -1.5, "\U0001f622": -1.0}  # fmt: skip
IDIOMS = (
    (
        re.compile(
            r"\b(?:stay|keep|run) away\b|\bnever (?:again|going back|buy|return|order)\b|\bmoney back\b"
        ),
        -2.0,
    ),
    (
        re.compile(r"\bfell? apart\b|\bstopped working\b|\bdoes(?:n't| not) work\b|\bdid(?:n't| not) work\b"),
        -2.0,
    ),
    (
        re.compile(
            r"\b(?:not|n't) (?:be )?(?:worth|recommend)\b|\bwaste of\b|\bhow (?:disappointing|rude)\b"
        ),
        -1.5,
    ),
    (
        re.compile(
            r"\bcan(?:'t|not) (?:wait|recommend it enough)\b|\bwill (?:definitely )?(?:be back|buy again"
            r"|return)\b"
        ),
        2.0,
    ),
    (
        re.compile(r"\bnot (?:bad|disappoint\w*)\b|\bno (?:complaints|problems|issues)\b|\bhard to beat\b"),
        2.5,
    ),
    (
        re.compile(
            r"\btoo (?:small|big|loud|long|short|salty|heavy|tight|hot|sweet|expensive|slow|thin|many|much)\b"
        ),
        -1.0,
    ),
    (
        re.compile(
            r"\b(?:ten|10) out of (?:ten|10)\b|\b5[ /-]?(?:stars?|5)\b|\bfive stars?\b|\btwo thumbs up\b"
        ),
        2.0,
    ),
    (re.compile(r"\b(?:zero|1|one) stars?\b|\bthumbs down\b|\bif i could give\b"), -2.0),
)


def _table() -> dict[str, float]:
    table: dict[str, float] = {}
    for source, sign in ((PRAISE, 1.0), (BLAME, -1.0)):
        for word in source.split():
            table[word] = sign * (1.5 if word in STRONG else 1.0)
            table.setdefault(stem(word), table[word])
    return table


VALUES = _table()
BY_START: dict[str, tuple[str, ...]] = {}
for _word in sorted(VALUES):
    if len(_word) >= 6:
        BY_START[_word[:2]] = (*BY_START.get(_word[:2], ()), _word)


@lru_cache(maxsize=16384)
def value(word: str) -> float:
    """A word's feeling, -1.5 to 1.5; a misspelling by one edit in a word of 6 letters or more is forgiven."""
    found = VALUES.get(word)
    if found is None:
        found = VALUES.get(stem(word))
    if found is None and len(word) >= 6:
        for known in BY_START.get(word[:2], ()):
            if distance(word, known, 1) <= 1:
                return VALUES[known]
    return found or 0.0


def feeling(text: str) -> tuple[float, float]:
    """How much praise and how much blame a text holds, both from 0 up.

    A negation within ``SCOPE`` words turns a word round, boosters add half, and what comes after *but* counts half
    as much again.
    """
    lower = plain(text).lower()
    praise = blame = 0.0
    for pattern, amount in IDIOMS:
        for _ in pattern.finditer(lower):
            praise, blame = (praise + amount, blame) if amount > 0 else (praise, blame - amount)
    for icon, amount in ICONS.items():
        count = lower.count(icon)
        praise, blame = (praise + count * amount, blame) if amount > 0 else (praise, blame - count * amount)
    for clause in re.split(r"[.!?;\n]+", lower):
        parts = [WORD.findall(part) for part in clause.split(",")]
        found = [word for part in parts for word in part]
        # A negation does not reach over a comma.
        starts = [
            start for start, part in zip(accumulate([0, *map(len, parts)]), parts, strict=False) for _ in part
        ]
        turned = False
        for index, word in enumerate(found):
            turned = turned or word in TURNS
            amount = value(word)
            if not amount:
                continue
            before = found[max(starts[index], index - SCOPE) : index]
            if any(each in BOOSTERS for each in before[-2:]):
                amount *= 1.5
            if any(each in NEGATIONS for each in before) and not ("not" in before and "only" in before):
                amount *= -0.8
            if turned:
                amount *= 1.5
            praise, blame = (praise + amount, blame) if amount > 0 else (praise, blame - amount)
    return praise, blame


def contrasts(text: str) -> bool:
    """Whether a sentence praises on one side of *but* and blames on the other."""
    for sentence in re.split(r"[.!?;\n]+", plain(text).lower()):
        left, turn, right = sentence.partition(" but ")
        if turn:
            sides = [praise - blame for praise, blame in (feeling(left), feeling(right))]
            if sides[0] * sides[1] < 0:
                return True
    return False
