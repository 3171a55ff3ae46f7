"""Abbreviations and what they stand for, where any reader knows them.

Left out is what means something else as often: no. (no), min (minutes, after a number), IT, US, sec, temp, acct.
"""

from __future__ import annotations

# A word or phrase, then its abbreviation. ">" before it: only to be abbreviated; "<": only to be spelt out.
_PAIRS = """
information info|approximately approx.|application <app|applications <apps|document doc|documents >docs
documentation >docs|configuration config|configurations configs|specification spec|specifications specs
repository repo|repositories repos|administrator admin|administrators admins|advertisement >ad|advertisements ads
laboratory lab|laboratories labs|examination exam|examinations exams|mathematics >maths|photograph photo
photographs photos|memorandum memo|telephone phone|telephones phones|television TV|televisions TVs
identification >ID|demonstration <demo|introduction intro|maximum max.|department dept.
departments depts.|versus vs.|paragraph para.|paragraphs paras|reference >ref.|references >refs|appointment appt.
appointments appts|management mgmt.|government govt.|including incl.|previous >prev.|parameter param
parameters params|message msg|messages msgs|synchronization >sync|synchronisation >sync|average avg.
miscellaneous misc.|vegetables veggies|statistics stats|veterinarian >vet|refrigerator fridge|gymnasium gym
airplane >plane|influenza flu|limousine limo|hours hrs|minutes <mins|seconds <secs
and so on etc.|and so forth >etc.|et cetera >etc.|for example >e.g.|that is to say >i.e.|as soon as possible ASAP
for your information FYI|frequently asked question >FAQ|frequently asked questions <FAQ
frequently asked questions FAQs|artificial intelligence >AI
machine learning >ML|large language model LLM|large language models LLMs|natural language processing NLP
human resources HR|public relations >PR|key performance indicator KPI|key performance indicators KPIs
return on investment ROI|chief executive officer CEO|chief financial officer CFO|estimated time of arrival ETA
date of birth DOB|terms of service ToS|user interface UI|user interfaces UIs|user experience UX|quality assurance QA
value added tax VAT|gross domestic product GDP|personal computer PC|personal computers PCs|point of view POV
years yrs|year >yr|weeks wks|week >wk|months >mos.|hour >hr|language >lang.|description >desc.|descriptions >descs.
definition >def.|difference >diff.|original >orig.|additional >addl.|quantity >qty|amount >amt.
response >resp.|people >ppl|technology >tech|vocabulary vocab|university >uni
picture pic|pictures pics|bicycle bike|bicycles bikes|international >intl.|please >pls|okay >OK|company >co.
search engine optimization SEO|standard operating procedure SOP|standard operating procedures SOPs
application programming interface API|application programming interfaces APIs|operating system OS
operating systems >OSs|global positioning system GPS|customer relationship management CRM|by the way BTW
"""


def _tables() -> tuple[dict[str, str], dict[str, str]]:
    short: dict[str, str] = {}
    long: dict[str, str] = {}
    for entry in _PAIRS.strip().replace("\n", "|").split("|"):
        phrase, _, brief = entry.rpartition(" ")
        bare = brief.lstrip("<>")
        if brief[0] != "<":
            short[phrase] = bare
        if brief[0] != ">":
            long[bare.rstrip(".")] = phrase
    return short, long


ABBREVIATED: dict[str, str]
"""A word or phrase in lower case, and its abbreviation as it is written."""

UNABBREVIATED: dict[str, str]
"""An abbreviation as it is written, without its full stop, and what it stands for; those with one meaning only."""

ABBREVIATED, UNABBREVIATED = _tables()
