"""Closed word classes of English: what tells a verb from a noun, and where an instruction begins."""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

DETERMINERS = words(
    """
    the a an this that these those each every any all your its their my our his her no some another both
    """
)
"""Words after which a noun follows, with an adjective between at most."""

BEFORE_VERB = words(
    """
    to please then and must should will would can could may might shall not don't never always also you
    carefully briefly clearly just do kindly simply
    """
)
"""Words after which the base form of a verb follows."""

BEFORE_GERUND = words("by when before after while without for of than avoid stop")
BEFORE_PARTICIPLE = words("the a an be is are was were been being not as any all has have clearly")
"""Words after which a participle follows, as a verb or before a noun."""

AFTER_NOUN = words(
    """
    is are was were of in to from for and or with that which by as on at below above into must should can will
    may has have you the a if about based using between without when before after so because does do cannot but
    carefully briefly they it we not only then
    """
)
"""Words that end a noun phrase; before any other, a noun may be the first half of a compound."""

TERM_HEADS = words(
    """
    function method thread branch file class module loop key interest number numbers noun nouns verb verbs tense clause
    clauses variable variables index indices equation equations matrix vector theorem array set string integer
    """
)
"""Nouns of terms: what stands before them is part of a name (``primary key``, ``complex numbers``)."""

IMPERATIVES = words(
    """
    add analyze analyse answer apply arrange ask assess assign assume avoid be base begin break build calculate
    categorize categorise check choose cite classify combine compare complete compose compute consider convert
    correct count create decide define describe detect determine discuss draft draw edit emphasize ensure
    estimate evaluate examine exclude explain express extract fill filter find fix focus follow format generate
    give go group help highlight identify ignore imagine improve include indicate infer interpret judge keep
    label limit list look maintain make mark match mention merge name note omit organize output outline
    paraphrase parse perform pick point predict prepare preserve prioritize produce propose provide put quote
    rank rate read recommend record refer remove rephrase replace reply report respond restate return review
    rewrite say score search select separate show simplify solve sort specify split start state structure
    suggest summarize summarise tag take tell think transform translate treat turn use validate verify wrap
    write
    """
)
"""Base forms that open an instruction."""

OPENERS_AFTER = words(
    """
    the a an this that these those each every any all your its their my our me us it them in with only as
    whether if what which how why who when where from into to on by for at and exactly no not at least between
    concise brief short one relevant main clear both up out down like about step steps specific sure
    carefully briefly text responses answers using following customer user
    """
)
"""Words after an opening base form that show it to be a verb (``Answer the ...``, not ``Answer key``)."""
