"""What label names usually mean, and the words that speak for them in a text."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_promptfuzz.targets.simulated.words import listed, stem, words

# A concept and other names that labels have for it, then, after =, the words that speak for it; those with * count
# twice. A blank line ends a concept.
LISTED = """
billing payment payments invoice invoicing charges finance
  = bill* invoice* invoices charge* charged* payment* pay paid card credit debit fee fees price
  subscription receipt refund refunded statement bank twice double-charged overcharged* vat tax
  transaction money cost renewal plan

refund refunds reimbursement
  = refund* refunded* refunds* reimburse* reimbursement* money back return returned compensation

technical tech it bug bugs technical-support troubleshooting bug-report engineering software-issue defect
product-issue outage
  = error* errors crash* crashes crashing bug* bugs freeze freezes frozen broken install installation
  update upgrade screen loading load app website server connection connect wifi sync software browser
  button glitch fails failed exception 404 500 timeout slow blank restart version api upload download
  works working display device printer driver firmware export import

account login access authentication sign-in profile account-access password
  = account* login* log-in logging sign-in password* username profile locked* reset verify verification
  two-factor 2fa authentication register signup email settings credentials log

shipping delivery logistics shipment order-status tracking fulfilment fulfillment order orders
delivery-issue
  = ship* shipped* shipping* delivery* deliver* delivered* package* parcel* courier* tracking* track
  arrive* arrived* late warehouse dispatch dispatched order ordered transit post postal carrier address
  lost delayed customs box

returns return exchange exchanges return-request
  = return* returned* returning* exchange* exchanged send sent back wrong size damaged label replacement

sales pricing pre-sales presales purchase quote enterprise
  = buy* purchase* pricing* price* quote* discount* demo* trial upgrade enterprise plan plans licence
  license seats volume interested offer team

cancellation cancel churn cancel-subscription
  = cancel* cancelled* canceled* cancellation* unsubscribe* terminate end stop subscription close
  membership leave

feature feature-request enhancement suggestion idea feature-requests improvement
  = feature* wish* suggest* suggestion* add* support dark mode would love could integrate integration
  option nice improvement request ability export allow idea

complaint complaints negative-feedback
  = complaint* complain* unacceptable* disappointed* terrible angry rude worst unhappy poor dissatisfied
  bad awful

praise compliment kudos positive-feedback appreciation thanks
  = thank* thanks* great love amazing excellent awesome helpful wonderful appreciate* fantastic best

feedback review
  = feedback* opinion think suggestion love like improve review

question inquiry enquiry query general-inquiry information how-to
  = how* what* when* where* which* who can could does is wondering question* know information ?

greeting hello smalltalk
  = hello* hi* hey* morning* afternoon evening greetings* howdy welcome

farewell goodbye bye
  = bye* goodbye* farewell* later cheers tomorrow

security fraud privacy phishing abuse
  = hacked* hack* phishing* fraud* fraudulent* stolen* suspicious* unauthorized* unauthorised* breach*
  security* privacy gdpr compromised* virus malware scam identity leak

hr human-resources people
  = leave* vacation* holiday salary* payroll* benefits* hire hiring manager onboarding sick maternity
  employee contract

legal compliance
  = contract* legal* lawyer* lawsuit* liability terms gdpr compliance* agreement clause attorney court

spam junk scam phishing unsolicited promotional
  = free* win* winner* won* prize* cash* claim* urgent click* offer* congratulations* lottery* viagra*
  credit loan cheap limited guaranteed* buy discount money text bonus selected exclusive unsubscribe act
  earn million* bitcoin crypto http://* https://* !!! $$$* casino* deal subscribe reward* gift voucher

ham not-spam legitimate normal non-spam legit genuine no-spam
  = meeting* tomorrow* lunch* dinner call see home attached please report team thanks mum dad love agenda
  project schedule review tonight later ok sorry

urgent high p1 high-priority immediate severe asap
  = urgent* urgently* immediately* asap* emergency* critical* down* outage* blocked* production* now
  everyone all cannot stopped deadline today breach hacked losing lost security leak fire severe data

critical emergency sev1 p0 blocker blocking
  = down* outage* production* emergency* everyone* all* losing* lost breach* fire* blocked* stopped* security
  leak* unusable urgent urgently immediately asap critical* now data

medium moderate normal p2 standard medium-priority average
  = soon affects some slow sometimes workaround week intermittent issue degraded several occasionally

low not-urgent minor p3 p4 low-priority trivial nonurgent non-urgent
  = minor* whenever* typo* cosmetic* suggestion* question wondering convenience* rush* someday small nice
  eventually colour color hurry curious

sports sport athletics
  = game* match* team* season* player* players coach* goal* goals score* scored* league* cup*
  championship* tournament* olympic* football* soccer* basketball* tennis* baseball* cricket* win won race
  stadium* striker final playoffs medal

politics political government policy world world-news
  = election* president* government* parliament* senate* minister* vote* voters* party congress* law bill
  campaign* policy* democrat republican treaty* sanctions* war troops diplomatic mayor* senator* coalition
  referendum prime legislation

business economy finance financial markets economics money
  = company* market* markets* shares* stock* stocks* profit* revenue* earnings* bank* economy* investors*
  merger* inflation* ceo quarter sales trade growth billion acquisition* fund interest rates price startup

technology tech technological computing sci-tech computers gadgets ai
  = software* computer* computers app* smartphone* phone ai* chip* chips* internet* robot* robots data
  cyber* device* devices google apple microsoft processor* startup algorithm* developers cloud* code
  programming battery laptop*

science scientific research
  = scientists* researchers* study* discovery* species* planet* space* nasa* telescope* experiment*
  physics* biology* climate fossil* dna* gene* particle laboratory quantum astronomers* galaxy chemistry
  cells

health medical medicine healthcare wellness
  = health* doctor* doctors* hospital* patients* patient* disease* vaccine* virus* cancer* drug*
  treatment* symptoms* diet* medical* nurse clinical surgery* mental exercise pain sleep flu blood

entertainment movies film music culture arts celebrity media
  = film* movie* movies* actor* actress* album* song* singer* concert* hollywood* oscar* tv series show
  music* band* director* celebrity* star theater netflix* premiere box-office novel

travel tourism trips transport
  = flight* hotel* airport* trip* tourist* tourists* vacation* beach* travel* destination* airline*
  luggage* visa* passport* booking itinerary train

food cooking restaurant recipes cuisine dining
  = recipe* restaurant* chef* dish* cook* cooking* bake* oven* delicious* meal* flavor* flavour*
  ingredients* taste* dinner food* pasta waiter menu

education school academic learning
  = school* students* student* teacher* teachers* university* exam* exams* college* curriculum* classroom*
  degree lesson* course tuition

environment climate nature weather
  = climate* emissions* pollution* carbon* forest* wildlife* ocean* warming* recycling* conservation*
  storm hurricane rain temperature renewable

crime police justice
  = police* arrested* suspect* murder* robbery* theft* court* jail* prison* investigation* victim* charged
  guilty stolen shooting

joy happy happiness excited excitement happy-customer joyful
  = happy* joy* excited* delighted* glad* thrilled* wonderful love great celebrate* yay* smile* laugh won
  fantastic best amazing promotion

sadness sad depressed grief unhappy
  = sad* cry* crying* cried* miss* lost* grief* lonely* heartbroken* depressed* tears* died* passed away
  alone funeral gloomy

anger angry frustrated frustration annoyed mad furious annoyance irritated
  = angry* furious* mad* outraged* annoyed* hate* unacceptable* ridiculous* fed* frustrated* rage* sick
  worst terrible rude stop infuriating* how dare

fear afraid scared anxiety anxious worried
  = afraid* scared* fear* terrified* worried* nervous* anxious* frightened* panic* dread* dark threat
  shaking nightmare

surprise surprised shocked
  = surprised* surprise* shocked* unexpected* unexpectedly* wow* unbelievable* suddenly* astonished*
  believe omg*

disgust disgusted
  = disgusting* gross* revolting* sickening* nasty* yuck* vile* filthy* smell rotten vomit

calm neutral-tone relaxed
  = calm* fine okay relaxed* no rush whenever peaceful*

polite courteous respectful formal professional
  = please* kindly* thank* thanks* appreciate* regards* dear* sincerely* would could grateful* apologies
  sir madam hereby

rude impolite hostile toxic offensive abusive informal casual insulting harmful hate
  = idiot* idiots* stupid* shut* damn* hell* useless* hate* dumb* moron* hey gonna wanna lol* dude* yo*
  trash* loser* pathetic* kill worthless ugly sucks

clean non-toxic not-toxic safe harmless acceptable civil
  =

fact factual objective
  = according* percent* study* located* founded* measured* is was contains published data consists degrees
  kilometers boils

opinion subjective
  = think* believe* feel* best* worst* love hate beautiful boring should opinion* seems overrated*
  favorite amazing terrible

hardware device physical
  = screen* keyboard* battery* charger* cable* laptop* printer* monitor* hinge* speaker* overheats* fan
  port cracked power

software application app program
  = app* software* update* install* crash* crashes* bug version login browser program windows license sync

network connectivity internet wifi
  = wifi* network* internet* connection* vpn* router* ethernet* disconnect* bandwidth signal dns offline

damage damaged damaged-item broken broken-item
  = broken* broke* damaged* cracked* smashed* dented* torn* shattered* scratched* pieces leaking* bent crushed* chipped*

quality product-quality product defect
  = quality* broken* defective* cracked* cheap* material* fell* apart* flimsy* faulty* stitching*
  scratched damaged

service customer-service staff support customer-support
  = staff* rude* service* agent* representative* support* waiter* helpful* hold* waited* answered call
  manager

price cost value pricing-complaint
  = price* expensive* cheap* cost* overpriced* value* worth* money* affordable* pricey*

usability ux ui design user-experience
  = confusing* intuitive* interface* navigate* menu* layout* button design* ui ux hard find clunky*
"""
FALLBACKS = frozenset(
    listed(
        """
        other others general neutral none unknown misc miscellaneous else n/a na unclear
        uncertain unsure unrelated normal general-inquiry general-enquiry not-sure
        none-of-the-above other-inquiry everything-else undetermined irrelevant
        """
    )
)
POSITIVE = frozenset(
    listed(
        """
        positive pos good favorable favourable happy satisfied recommended like liked pro
        thumbs-up
        """
    )
)
NEGATIVE = frozenset(
    listed(
        """
        negative neg bad unfavorable unfavourable unhappy dissatisfied dislike disliked con
        critical thumbs-down
        """
    )
)
MIDDLE = frozenset(listed("neutral mixed average okay ok indifferent balanced undecided"))
YES = frozenset(["yes", "true", "y", "relevant", "correct"])
NO = frozenset(["no", "false", "n", "irrelevant", "incorrect"])
LANGUAGES = frozenset(
    listed(
        """
        english spanish french german italian portuguese dutch en es fr de it pt nl eng spa fra
        deu
        """
    )
)


def _table() -> dict[str, tuple[list[str], list[str]]]:
    table: dict[str, tuple[list[str], list[str]]] = {}
    for entry in LISTED.strip().split("\n\n"):
        names, _, speaking = entry.partition("\n  =")
        table[names.split()[0]] = (names.split()[1:], speaking.split())
    return table


TABLE = _table()


def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for concept, (others, _) in TABLE.items():
        for name in (concept, *others):
            names.setdefault(name, concept)
    return names


NAMES = _names()


def key(name: str) -> str:
    """A label's name for look-ups: lower case, words joined by hyphens, camel case split."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return "-".join(words(spaced.replace("_", " ").replace("-", " ")))


@lru_cache(maxsize=4096)
def concepts(name: str) -> tuple[str, ...]:
    """The concepts a label's name stands for; by the whole name, else by each of its words."""
    whole = key(name)
    if whole in NAMES:
        return (NAMES[whole],)
    found = []
    for word in whole.split("-"):
        for each in (word, stem(word), word.removesuffix("s")):
            if each in NAMES:
                found.append(NAMES[each])
                break
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=256)
def evidence(concept: str) -> dict[str, float]:
    """Stems that speak for a concept, with their weights 1 or 2."""
    found: dict[str, float] = {}
    for word in TABLE[concept][1]:
        bare = word.rstrip("*")
        weight = 2.0 if word.endswith("*") else 1.0
        for each in (bare, stem(bare)):
            found[each] = max(found.get(each, 0.0), weight)
    return found


def known_label(name: str) -> bool:
    """Whether a name is a usual label by itself."""
    whole = key(name)
    plain_sets = FALLBACKS | POSITIVE | NEGATIVE | MIDDLE | YES | NO | LANGUAGES
    return (
        whole in NAMES
        or whole in plain_sets
        or whole in {"very-positive", "very-negative", "not-urgent", "high", "bug"}
    )
