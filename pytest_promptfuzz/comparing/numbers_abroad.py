"""Number words of German, Dutch, Italian, Spanish, French and Portuguese, as far as they mean nothing else.

Left out are, among others, once, sei, otto, due, doze, cent and cento, which are other words too.
"""

from __future__ import annotations

_SINGLE = """
siebzehn:17 achtzehn:18 neunzehn:19 siebzig:70 achtzig:80 neunzig:90
drie:3 dertien:13 veertien:14 zestien:16 zeventien:17 achttien:18 negentien:19 vijftig:50 zestig:60 zeventig:70 \
tachtig:80 negentig:90
nove:9 undici:11 tredici:13 quattordici:14 sedici:16 diciassette:17 diciotto:18 diciannove:19 sessanta:60 \
settanta:70 ottanta:80 novanta:90
catorce:14 dieciséis:16 diecisiete:17 dieciocho:18 diecinueve:19 veintiuno:21 veintidós:22 veintitrés:23 \
veinticuatro:24 veinticinco:25 veintiséis:26 veintisiete:27 veintiocho:28 veintinueve:29 sesenta:60 setenta:70 \
ochenta:80 noventa:90
dois:2 duas:2 três:3 quatro:4 sete:7 oito:8 dez:10 treze:13 catorze:14 quatorze:14 dezesseis:16 \
dezasseis:16 dezessete:17 dezassete:17 dezoito:18 dezenove:19 dezanove:19 vinte:20 trinta:30 quarenta:40 \
cinquenta:50 sessenta:60 oitenta:80 cem:100
"""
_GERMAN = ("ein zwei drei vier fünf sechs sieben acht neun", "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig \
neunzig")  # fmt: skip
_DUTCH = ("eenen tweeën drieën vieren vijfen zesen zevenen achten negenen", "twintig dertig veertig vijftig zestig \
zeventig tachtig negentig")  # fmt: skip
_ITALIAN = ("uno due tré quattro cinque sei sette otto nove", "venti trenta quaranta cinquanta sessanta settanta \
ottanta novanta")  # fmt: skip


def _number_words() -> dict[str, int]:
    known = {word: int(value) for word, _, value in (each.partition(":") for each in _SINGLE.split())}
    for (units, tens), between in ((_GERMAN, "und"), (_DUTCH, "")):
        for ten, ending in enumerate(tens.split(), start=2):
            known |= {
                f"{one}{between}{ending}": 10 * ten + at for at, one in enumerate(units.split(), start=1)
            }
    units, tens = _ITALIAN
    for ten, beginning in enumerate(tens.split(), start=2):
        for at, one in enumerate(units.split(), start=1):
            known[(beginning[:-1] if one[0] in "uo" else beginning) + one] = 10 * ten + at
    return known


NUMBERS_ABROAD = _number_words()
"""Each word with its number, from 2 to 100."""
