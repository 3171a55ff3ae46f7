"""Words that deny each other, and words of which only one can hold in one place.

A pair or a line belongs here only if taking the one word for the other would reverse or change an answer.
"""

from __future__ import annotations

OPPOSITES = """
approve deny|allow forbid|allow block|increase decrease|rise fall|grow shrink|gain lose|win lose|open close
start stop|start end|online offline|true false|correct incorrect|right wrong|valid void|pass fail|succeed fail
accept decline|include exclude|enable disable|active inactive|hot cold|warm cool|high low
higher lower|highest lowest|more less|more fewer|most least|fast slow|faster slower|early late|earlier later
before after|above below|inside outside|internal external|import export|buy sell
buyer seller|lend borrow|lender borrower|positive negative|good bad|better worse|best worst|strong weak
safe dangerous|safe unsafe|legal illegal|guilty innocent|profit loss|surplus deficit|add remove|attach detach
connect disconnect|upgrade downgrade|push pull|arrive depart|enter leave|enter exit|left right
top bottom|front back|north south|east west|maximum minimum|mandatory optional
required optional|public private|full empty|cheap expensive|cheaper dearer|new old|newer older|young old
long short|longer shorter|wide narrow|hard easy|difficult easy|permanent temporary|present absent|alive dead
healthy sick|happy sad|love hate|agree disagree|support oppose|available unavailable|possible impossible
qualify disqualify|eligible ineligible|success failure|advantage disadvantage|strength weakness|first last
next previous|always never|everyone nobody|everything nothing|improve worsen|improve deteriorate
accelerate slow|expand contract|upload download|encrypt decrypt|lock unlock|send receive|give take|teach learn
hire fire|deposit withdraw|credit debit|asset liability|input output|ascend descend|subscribe unsubscribe
guilt innocence|man woman|male female|father mother|son daughter|brother sister|husband wife|boy girl
uncle aunt|day night|summer winter|teacher student|employer employee|landlord tenant
plaintiff defendant|accurate inaccurate|genuine fake|real fake|confirm deny|affirm deny|recommend discourage
encourage discourage|sink float|major minor|majority minority|senior junior|superior inferior
heavy light|heavier lighter
cover exclude|extend shorten|thinly thickly|praise criticize|praise criticise|praise pan|commend condemn
sunny shady|wet dry|dry humid|dry moist
raise lower|agree deny
beat lose|older younger|oldest youngest|clean dirty|rich poor|thick thin|deep shallow|tight loose|smooth rough
sharp blunt|bright dark|light dark|loud quiet|polite rude|strict lenient|simple complex|simple complicated|common rare
frequent rare|ancient modern|fresh stale|raw cooked|sweet bitter|sweet sour|soft hard|tall short|near far
nearest farthest|closest furthest|forward backward|upward downward|upwards downwards|clockwise counterclockwise
vertical horizontal|odd even|plus minus|multiply divide|ascending descending|sender recipient|sender receiver
doctor patient|guest host|predator prey|attack defend|victory defeat|ally enemy|friend enemy|optimistic pessimistic
friendly hostile|careful careless|useful useless|harmful harmless|helpful harmful|benefit harm|reward punish
remember forget|find lose|save spend|save delete|create destroy|build destroy|build demolish|live die|survive die
birth death|freeze melt|freeze thaw|inhale exhale|absorb emit|inflate deflate|tighten loosen|lengthen shorten
widen narrow|strengthen weaken|soften harden|heat cool|hotter colder|warmer cooler|brighter darker|larger smaller
bigger smaller|big small|big tiny|largest smallest|biggest smallest|greater lesser|taller shorter|thicker thinner
deeper shallower|richer poorer|easier harder|stronger weaker|safer riskier|sooner later|nearer farther
overestimate underestimate
upstream downstream|uphill downhill|upstairs downstairs|indoor outdoor|indoors outdoors|domestic foreign|local remote
urban rural|acidic alkaline|anode cathode|supply demand|wholesale retail|gross net|fixed variable|debtor creditor
bullish bearish|liberal conservative|peace war|acquit convict|arrest release|detain release|hit miss|show hide
visible hidden|reveal conceal|expand collapse|maximize minimize|increment decrement|read write|login logout
attract repel|join leave|stay leave|keep discard|keep remove|retain discard|maintain abandon|continue stop
pause resume|proceed halt|similar different|identical different|together apart|inclusive exclusive
subjective objective|manual automatic|manually automatically|static dynamic|stable volatile|transparent opaque
peak trough
dawn dusk|sunrise sunset|past future|former latter|ancestor descendant|winner loser|king queen|nephew niece
bride groom|payer payee|trainer trainee|donor recipient|supplier customer|plug unplug|install uninstall|load unload
proven refuted|proved refuted|sincere sarcastic|partial impartial|formal casual
exempt liable|lenient harsh|gentle harsh|gentle rough|gradual sudden|gradual abrupt|abundant scarce|plentiful scarce
bold timid|shy outgoing|introvert extrovert|introverted extroverted|humble arrogant|modest arrogant|proud ashamed
selfish generous|selfish selfless|wealthy poor|affluent poor|diligent lazy|hardworking lazy|calm anxious|calm nervous
relaxed tense|fertile barren|concave convex|parallel perpendicular|sequential parallel|serial parallel
synchronous asynchronous|symmetric asymmetric|encode decode|compress decompress|serialize deserialize|allocate free
singular plural|uppercase lowercase|leading trailing|cause prevent|trigger prevent|endothermic exothermic
herbivore carnivore|nocturnal diurnal|hypertension hypotension|acute chronic|inflow outflow|inbound outbound
incoming outgoing|inward outward|inner outer|interior exterior|ingress egress|intake output|entrance exit
admission discharge|admit discharge|lessor lessee|grantor grantee|mortgagor mortgagee|licensor licensee
assignor assignee|insurer insured|insurer policyholder|appellant respondent|claimant defendant|claimant respondent
prosecutor defendant|prosecution defence|prosecution defense|importer exporter|consignor consignee|obligor obligee
overpay underpay|overstate understate|overweight underweight|overvalue undervalue|inflation deflation
appreciate depreciate|appreciation depreciation|boom bust|boom recession|expansion contraction|tailwind headwind
legalize criminalize|legalise criminalise|decriminalize criminalize|nationalize privatize|nationalise privatise
centralize decentralize|advance retreat|join quit|enrol withdraw|enroll withdraw|owner renter|owner tenant
arrival departure|takeoff landing|ahead behind|forwards backwards|reusable disposable|rechargeable disposable
wired wireless|corded cordless|digital analog|digital analogue|virtual physical|remote onsite|inperson online
paperback hardcover|paperback hardback|matte glossy|decaf caffeinated|awake asleep|hungry full|punctual late
hit miss|converge diverge|democratic autocratic|democratic authoritarian|democracy dictatorship|secular religious
civilian military|literal figurative|literal metaphorical|abstract concrete|concise verbose|concise lengthy
terse verbose|comedy tragedy|comic tragic|hero villain|protagonist antagonist|prologue epilogue|ebb flow|drought flood
humid arid|lush barren|smooth chunky|inductive deductive|quantitative qualitative|proactive reactive|active passive
advantage drawback|benefit drawback|merit flaw|blessing curse|reward penalty|bonus penalty|discount surcharge
rebate surcharge|subsidy tax|earn spend|income expense|income expenditure|revenue expense|receivable payable
hawkish dovish|exonerate incriminate|vindicate blame|praise blame|rescue abandon|sterile contaminated
immune susceptible|immune vulnerable|resistant susceptible|resistant vulnerable|protected vulnerable|recover relapse
remission relapse|symptomatic asymptomatic|dominant recessive|systolic diastolic|dilate constrict|proximal distal
anterior posterior|dorsal ventral|medial lateral|sympathetic parasympathetic|local global|local national
domestic international|national international|eager lazy|primary secondary|development production|staging production
commit rollback|merge revert|encrypted plaintext|whitelist blacklist|allowlist denylist|allowlist blocklist
grant revoke|reinstate revoke|reinstate suspend|resume suspend|activate suspend|activate deactivate|renew cancel
renew terminate|book cancel|confirm cancel|elect oust|promote demote|applaud boo|cheer boo|adore loathe|enjoy hate
seek avoid|recommend avoid|prefer avoid|trust mistrust|comply violate|follow ignore|follow violate|observe violate
respect violate|honor breach|honour breach|heed ignore|unite divide|unify divide|merge split|combine separate
join separate|connect separate|gather scatter|collect scatter|collect distribute|concentrate disperse|elder younger
most fewest|least greatest|smallest greatest|minimal maximal|shortest longest|fastest slowest|cheapest priciest
strongest weakest|richest poorest|earliest latest|hottest coldest|warmest coolest|tallest shortest|heaviest lightest
deepest shallowest|widest narrowest|easiest hardest|brightest darkest|loudest quietest|safest riskiest
busiest quietest|newest oldest|happiest saddest|quicker slower|shorter taller|cleaner dirtier|drier wetter
healthier sicker|happier sadder|busier quieter|louder quieter|simpler harder|cheaper pricier|cheaper costlier
softer harder|smoother rougher|tighter looser|milder harsher|milder stronger|gentler harsher|looser stricter
laxer stricter|increase cut|raise cut|rise cut|hike cut|expand cut|double halve|tighten ease|tighten relax
toughen relax|toughen soften|escalate ease|escalate deescalate|warming cooling|brighten dim|fill drain|load unload
zip unzip|wrap unwrap|pack unpack|fold unfold|tie untie|cover uncover|mask unmask|insert remove|insert eject
add subtract|add deduct|caller callee|interviewer interviewee|examiner examinee|mentor mentee|lawyer client
author reader|speaker listener|driver passenger|driver pedestrian|pilot passenger|resident visitor|resident tourist
member visitor|adult child|adult minor|victim perpetrator|victim attacker|victim offender|hunter prey
incumbent challenger|champion challenger|favorite underdog|favourite underdog|boyfriend girlfriend
grandfather grandmother|grandson granddaughter|widow widower|actor actress|waiter waitress|prince princess
duke duchess|mr mrs|uphold overturn|affirm overturn|uphold quash|valid expired|current former|current previous
lit unlit|thankful ungrateful|profitable lossmaking|refrigerate heat|ancient recent|harvest sow|plant uproot
open locked|open shut|dismiss uphold|dismiss grant|support refute|confirm refute|prove disprove|verify debunk
cheaper dearer|decide consider|decide mull|decide ponder|approve consider|approve propose|adopt propose
stable critical|agree doubt
mit ohne|avec sans|con senza|con sin|met zonder|med utan|с без
genehmigt abgelehnt|erlaubt verboten|offen geschlossen|geöffnet geschlossen|steigt sinkt|gestiegen gesunken
richtig falsch|gewonnen verloren|gesendet empfangen|angenommen abgelehnt|ouvert fermé|ouverte fermée|accepté refusé
augmenté diminué|gagné perdu|vrai faux|autorisé interdit|envoyé reçu|abierto cerrado|abierta cerrada
aprobado rechazado|aprobada rechazada|permitido prohibido|ganado perdido|verdadero falso|confirmado cancelado
confirmada cancelada
enviado recibido|aperto chiuso|aperta chiusa|vero falso|approvato respinto|одобрен отклонён|открыт закрыт
разрешено запрещено|открыта закрыта
""".strip()
"""Pairs of which one denies the other."""

EXCLUSIVE = """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
red green blue yellow orange purple black white brown grey pink beige turquoise violet
all most many several some few none no handful
all entire whole part portion
all entire whole half
always usually often sometimes rarely seldom never occasionally
must should may might could can
once twice thrice
daily twice thrice
weekly twice thrice
monthly twice thrice
yearly twice thrice
twice thrice 4 5 6 8 10
only-one both neither-of
at-least at-most exactly
dollar euro pound-sterling yen rupee franc peso krona krone zloty yuan rouble ruble lira
dollar euro pound
dollar cent
euro cent
kg gram pound ounce tonne
km mile meter foot inch dm cm mm µm nm yard
celsius fahrenheit kelvin
second minute hour day week month year decade century
gb mb kb tb
ms second minute
watt kw mw gw
am pm
million billion trillion thousand hundred
spring summer autumn winter
morning afternoon evening night
breakfast lunch dinner
usa canadian australian british mexican brazilian indian
american canadian australian british mexican brazilian indian
swedish norwegian danish icelandic polish czech
english french german spanish italian dutch portuguese chinese japanese russian
first second third fourth fifth
to from
by to
except even including
up down
in out
on off
over under
he she
him her
his her
daily weekly monthly yearly annually hourly
north south east west
yesterday today tomorrow tonight
low medium high
mild moderate severe
excellent good fair poor
bronze silver gold
teaspoon tablespoon cup
月 火 水 木 金 土
beginner intermediate advanced
small medium large
weekday weekend
gallon quart pint
http https
stdin stdout stderr
tcp udp
northern southern eastern western
cash card cheque
half third quarter fifth tenth
half twice thrice double triple
double triple quadruple halve
if unless
only except
only everyone everybody anyone
only all
only any each
all 1 2 3 half handful minority
all first
someone everyone
both 1 neither
mcg mg gram kg
ml cl dl litre
montag dienstag mittwoch donnerstag freitag samstag sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
alle einige manche viele wenige keine
jeder einige kein
immer oft manchmal selten nie
tous certains quelques aucun plupart
toutes certaines quelques aucune plupart
toujours souvent parfois rarement jamais
todos algunos muchos pocos ningún ninguno mayoría
todas algunas muchas pocas ninguna mayoría
siempre a-menudo veces raramente nunca
tutti alcuni molti pochi nessuno maggioranza
tutte alcune molte poche nessuna maggioranza
sempre spesso talvolta raramente mai
alle sommige enkele veel weinig geen
altijd vaak soms zelden nooit
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
januari februari maart april mei juni juli augustus september oktober november december
lunedì martedì mercoledì giovedì venerdì sabato domenica
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
lunes martes miércoles jueves viernes sábado domingo
""".strip()
"""Each line: words of which, in one place, only one can hold."""

KINDS = """
once several
full part half
by after
by until
before until
arm leg hand foot knee elbow shoulder hip ankle wrist neck toe finger
heart liver kidney lung stomach brain pancreas spleen
oxygen nitrogen hydrogen methane helium argon
iron copper silver gold zinc aluminium nickel steel brass
wheat rice oat rye barley maize
beef pork chicken lamb turkey fish
milk water juice wine beer coffee tea
salt sugar pepper flour
apple pear banana lemon cherry plum peach grape
carrot potato tomato onion garlic cabbage
wood metal plastic glass paper leather
cotton wool silk linen nylon
football tennis basketball hockey golf cricket rugby
piano violin guitar flute cello trumpet drum clarinet
kitchen bedroom bathroom cellar attic garage
mathematics physics chemistry biology geography
oak pine birch beech maple
dog cat horse cow pig sheep goat rabbit
bus train tram plane ferry taxi
bluetooth wifi cable
vowel consonant
comma semicolon
""".strip()
"""Each line: things of one kind, and limits of time, of which one for another changes an answer.

Unlike the words above, one that only one of two answers has decides nothing.
"""
