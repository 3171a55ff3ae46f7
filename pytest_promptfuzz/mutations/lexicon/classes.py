"""Closed word classes of English as bits, so that what stands around a word is told by one look-up."""

from __future__ import annotations

DETERMINER = 1
PREPOSITION = 2
CONJUNCTION = 4
BE = 8
AUXILIARY = 16
CLAUSE = 32
SUBJECT = 64
OBJECT = 128
ADVERB = 256
SUBORDINATOR = 512
TO = 1024
NUMBER = 2048
PARTICLE = 4096
PERSON = 8192
FOCUS = 16384
DEGREE = 32768

_MEMBERS: dict[int, str] = {
    DETERMINER: """
        the a an this that these those each every any all your its their my our his her no some another both which
        what whose several many few most either neither such other
    """,
    PREPOSITION: """
        of in on at by for with from to into onto as about above below under over between among through during
        against within without across per via after before until since than like upon toward towards along beyond
        regarding concerning despite except unlike throughout outside inside near behind beside besides off
    """,
    CONJUNCTION: "and or but nor",
    BE: "is are was were be been being am seem seems remain remains become becomes stay",
    AUXILIARY: """
        can could may might must shall should will would do does did has have had cannot can't don't doesn't didn't
        won't shouldn't mustn't couldn't wouldn't isn't aren't wasn't weren't haven't hasn't
    """,
    CLAUSE: "that which who whom whose what how why when where whether if",
    SUBJECT: "i you he she it we they who there",
    OBJECT: "it them this that these those itself themselves one ones",
    PERSON: "me us you him her yourself myself ourselves himself herself",
    ADVERB: """
        not never also then still please always often very more less quite rather so too just now here there again
        once first next finally simply carefully briefly clearly together instead further even already
    """,
    SUBORDINATOR: "because while although though unless until since when if once as whereas after before so",
    TO: "to",
    NUMBER: "one two three four five six seven eight nine ten twelve twenty hundred",
    PARTICLE: "out up down off over away back on through in along together",
    FOCUS: "only just exactly both all each every any at",
    DEGREE: "how so too as more most very less least rather quite fairly extremely really",
}


def _classes() -> dict[str, int]:
    found: dict[str, int] = {}
    for bit, members in _MEMBERS.items():
        for word in members.split():
            found[word] = found.get(word, 0) | bit
    return found


CLASSES: dict[str, int] = _classes()
"""The classes of each word of the closed classes, in lower case; any other word is open: a noun, a verb, ..."""
