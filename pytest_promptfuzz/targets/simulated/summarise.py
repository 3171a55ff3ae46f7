"""Summaries made of the text's own sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.classify import STOP
from pytest_promptfuzz.targets.simulated.words import sentences, stem, words

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.formats import Format
    from pytest_promptfuzz.targets.simulated.reading import Reading

USUAL = 2
"""Sentences of a summary where the prompt does not say."""
LEAD = 0.25
"""What the first sentence is given above its words: reports open with their point."""


def chosen(text: str, count: int, variant: int = 0) -> list[str]:
    """The ``count`` sentences that say most, in the order of the text.

    A sentence's worth is the mean frequency of its content words in the text (Luhn 1958, "The automatic creation of
    literature abstracts"), the first sentence a little above the others. ``variant`` passes over that many of the best.
    """
    found = [each for line in text.split("\n") for each in sentences(line)] or [text]
    frequency: Counter[str] = Counter()
    contents = [[stem(word) for word in words(each) if word not in STOP] for each in found]
    for each in contents:
        frequency.update(set(each))
    top = max(frequency.values(), default=1)
    worth = []
    for index, each in enumerate(contents):
        mean = sum(frequency[word] / top for word in each) / (len(each) + 4) if each else 0.0
        worth.append(mean + (LEAD if index == 0 else 0.0))
    order = sorted(range(len(found)), key=lambda index: (-worth[index], index))
    skipped = variant % max(1, len(order) - count + 1) if variant else 0
    return [found[index] for index in sorted(order[skipped : skipped + count])]


def summarise(reading: Reading, form: Format, variant: int = 0) -> str | None:
    """A summary of the data in as many sentences, bullets and words as asked; ``None`` without data."""
    text = reading.data.strip()
    if not text:
        return None
    if form.headline:
        return _headline(chosen(text, 1, variant)[0], form.words or HEADLINE)
    count = form.units or (3 if form.bullets or form.numbered else USUAL)
    if form.words and form.words < 45 and not form.units:
        count = 1 if not form.bullets else count
    picked = chosen(text, count, variant)
    if form.words:
        picked = _shortened(picked, form.words)
    if form.bullets or form.numbered:
        marks = (f"{number}. " if form.numbered else "- " for number in range(1, len(picked) + 1))
        return "\n".join(mark + each for mark, each in zip(marks, picked, strict=False))
    return " ".join(picked)


HEADLINE = 10
"""Words of a headline where the prompt does not say."""


def _headline(sentence: str, limit: int) -> str:
    """The beginning of a sentence as a headline: no more words than allowed, none at its end that only joins."""
    kept = sentence.split()[:limit]
    while len(kept) > 2 and len(kept) < len(sentence.split()) and kept[-1].lower().strip(",;:") in STOP:
        kept.pop()
    return " ".join(kept).rstrip(".,;:!? ")


def _shortened(picked: list[str], limit: int) -> list[str]:
    """At most ``limit`` words in all: whole sentences while they fit, the first cut if even that is too long."""
    kept: list[str] = []
    used = 0
    for each in picked:
        size = len(each.split())
        if used + size > limit:
            break
        kept.append(each)
        used += size
    if kept or not picked:
        return kept
    return [" ".join(picked[0].split()[:limit]).rstrip(",;:-.!? ") + "."]
