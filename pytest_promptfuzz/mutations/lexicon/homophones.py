"""Words that sound alike and are taken for each other, where a reader still knows what an instruction asks.

Not here: what counts (four/for, two/to, one/won), negates (no/know, not/knot), connects (or/oar, whether/weather,
than/then, except/accept), asks for something (write/right, read/reed, find/fined, cite/site, sum/some) or may well be
what is asked about (by/buy, sale/sail, patients/patience, minor/miner).
"""

from __future__ import annotations

_PAIRS = """
their there|they're their|there their|your you're|you're your|its it's|it's its|who's whose|whose who's
too to|through threw|threw through|would wood|here hear|hear here|where wear|wear where|very vary|vary very
piece peace|pieces peaces|whole hole|great grate|course coarse|plain plane|principal principle|principle principal
principles principals|complement compliment|complements compliments|council counsel|led lead|allowed aloud
stationary stationery|effect affect|effects affects|affect effect|affects effects|role roll|roles rolls
wait weight|waiting weighting|break brake|breaks brakes|board bored|scene seen|lessen lesson|passed past|past passed
week weak|weak week|main mane|seem seam|seems seams|made maid|need knead|needs kneads|way weigh|ways weighs
knew new|meet meat|meets meats|tale tail|tail tale|waste waist|heard herd|due dew
manner manor|manners manors|missed mist|real reel|aid aide|advice advise|advise advice|lose loose
loose lose|quite quiet|quiet quite|ensure insure|ensures insures|ensuring insuring|let's lets
pause paws|peak peek|pair pear|pairs pears|rain rein
straight strait|vain vein|bear bare|born borne|core corps|fair fare|gate gait|hall haul|idle idol|leak leek|loan lone
mode mowed|morning mourning|pale pail|raise raze|ring wring|road rode|serial cereal|sweet suite|team teem
teams teems|tied tide|stayed staid|dear deer
"""


def _pairs() -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in _PAIRS.strip().replace("\n", "|").split("|"):
        word, _, other = pair.partition(" ")
        found[word] = other
    return found


HOMOPHONES: dict[str, str] = _pairs()
"""A word in lower case, and what is written in its place."""
