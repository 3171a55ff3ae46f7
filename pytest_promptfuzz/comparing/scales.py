"""Scales: on each line the words of one pole, then those of the other; a word of one denies a word of the other.

A line belongs here only if taking a word of the one side for a word of the other would reverse an answer. Words that
say the same on one side need not be synonyms: "endorse" and "back" both deny "oppose".
"""

from __future__ import annotations

ENGLISH = """
endorse support favour favor champion uphold | oppose reject resist
easy simple straightforward effortless convenient painless | hard difficult cumbersome tricky complicated \
arduous laborious burdensome
generous lavish | stingy miserly meagre meager
lasting durable enduring permanent long-lasting lifelong | fleeting temporary transient brief short-lived \
passing provisional
credible trustworthy believable plausible honest truthful | untrustworthy dishonest implausible dubious \
unreliable incredible
surplus excess | shortfall deficit shortage deficiency
benign harmless innocuous | malignant harmful
surge soar climb jump leap skyrocket rise increase grow rally gain rebound | plunge plummet tumble slump sink \
drop fall decline decrease crash slide shrink dwindle
bullish upbeat optimistic confident hopeful | bearish gloomy pessimistic downbeat
opt-in | opt-out
tighten fasten | loosen slacken
accept admit acknowledge assume | disclaim disavow repudiate
edible | inedible poisonous
report affirm admit confirm | deny dispute retract
credit | debit
approve authorize authorise sanction ratify pass | veto reject block deny
allow permit let enable | prohibit forbid ban prevent bar disallow block
hire recruit employ appoint | fire dismiss sack layoff
praise applaud laud commend hail welcome | criticize criticise condemn slam blast denounce deplore lambaste
expand enlarge extend broaden widen | contract shrink narrow curtail reduce
accelerate hasten expedite quicken | slow delay decelerate impede hinder hamper
strengthen reinforce bolster fortify boost | weaken undermine erode sap
improve better enhance upgrade ameliorate | worsen deteriorate degrade aggravate
relieve ease alleviate soothe lessen reduce | worsen aggravate exacerbate intensify
stimulate promote encourage foster boost | inhibit suppress discourage stifle curb hinder
include incorporate contain | exclude omit
victory triumph win success | defeat loss failure
victorious successful | defeated unsuccessful
pleased delighted glad happy satisfied | sorry sad displeased disappointed upset unhappy dissatisfied
safe harmless secure riskless | dangerous hazardous unsafe risky perilous harmful insecure
reliable dependable | unreliable flaky
sufficient enough adequate ample plenty | insufficient inadequate scarce
guilty liable culpable | innocent acquitted blameless
guarantee ensure | jeopardize jeopardise endanger threaten
mandatory required compulsory obligatory | optional voluntary discretionary
conditional | unconditional
temporary interim | permanent
voluntary willingly | involuntary forced
deliberate intentional purposely deliberately intentionally | accidental unintentional accidentally \
inadvertently unintentionally
fresh | stale rotten spoiled expired
tender soft | tough hard
crisp crunchy crispy | soggy
moist damp wet | dry
transparent clear see-through | opaque murky
calm peaceful quiet serene | agitated turbulent noisy stormy
crowded busy packed | deserted empty
wealthy rich affluent | poor impoverished
strict rigid stringent | lax lenient loose relaxed
abundant plentiful | scarce rare
common frequent widespread | rare infrequent uncommon
often frequently regularly usually generally commonly mostly typically always | rarely seldom infrequently \
occasionally never sporadically
early premature ahead | late overdue belated
profit gain earnings | loss
profitable lucrative | unprofitable
ally partner friend supporter | enemy opponent foe rival
resolve settle fix | worsen
unanimous unanimously | divided split
outperform beat exceed surpass | underperform lag
overestimate overstate exaggerate | underestimate understate
inflow influx | outflow
arrival | departure
entrance entry | exit
ascent rise | descent
hawkish | dovish
inflation | deflation
expansion growth | recession contraction downturn
boom | bust slump
dominant | recessive
acute | chronic
benefit advantage upside | drawback disadvantage downside harm
asset | liability
generous | stingy
voluntarily | compulsorily
indoor inside indoors | outdoor outside outdoors
upper uppermost | lower lowermost
upstairs | downstairs
front | rear back
interior inner internal | exterior outer external
sunny bright | cloudy overcast gloomy rainy
warm hot | cold chilly freezing cool
polite courteous respectful civil | rude impolite disrespectful
brave courageous | cowardly
humble modest | arrogant boastful
lively energetic | sluggish lethargic dull
cheerful joyful | gloomy miserable
tidy neat | messy untidy
sober | drunk
asleep | awake
unmarried | married
alive living | dead deceased
hollow | solid
shallow | deep
blunt dull | sharp
smooth | rough bumpy
symmetric symmetrical | asymmetric asymmetrical
maximum max highest most | minimum min lowest least
ascending ascend | descending descend
uppercase | lowercase
synchronous synchronously sync | asynchronous asynchronously async
mutable | immutable
public | private
encrypt | decrypt
enable activate switch-on | disable deactivate switch-off
allowlist whitelist | blocklist blacklist
online | offline
import | export
push | pull
merge | split
lock | unlock
mount | unmount
compress | decompress
serialize serialise | deserialize deserialise
acid acidic | alkaline basic
hypertension | hypotension
hyperglycemia hyperglycaemia | hypoglycemia hypoglycaemia
tachycardia | bradycardia
constipation | diarrhea diarrhoea
dilate | constrict
inhale | exhale
systolic | diastolic
positive | negative
vein | artery
proximal | distal
anterior | posterior
sterile | contaminated
infectious contagious | noninfectious
inpatient | outpatient
acquit exonerate clear | convict
plaintiff claimant | defendant
lessor landlord | lessee tenant
mortgagor | mortgagee
prosecution prosecutor | defense defence
grant award | deny refuse withhold revoke
uphold affirm | overturn reverse quash
lift ease repeal | impose tighten
adjourn | convene
comply obey abide | violate breach flout
lawful legal | unlawful illegal
valid | invalid expired void
binding | nonbinding
gross | net
fixed | variable floating
creditor lender | debtor borrower
overpriced expensive costly | underpriced cheap inexpensive affordable
buy purchase acquire | sell
deposit | withdraw withdrawal
refund reimburse repay | charge
arrive | depart leave
outbound | inbound
eastbound | westbound
northbound | southbound
northern north | southern south
eastern east | western west
left | right
clockwise | counterclockwise anticlockwise
domestic | international foreign
departure | arrival
one-way | round-trip
vacant unoccupied | occupied taken
full | empty vacant
open | closed shut
begin start commence launch open | end stop finish cease close
join enter | quit leave resign
stay remain | leave
continue proceed resume | halt stop suspend pause discontinue abandon
keep retain preserve | discard delete remove scrap abolish
add append insert | remove delete subtract
create establish found | destroy dissolve dismantle
appear emerge | disappear vanish
remember recall | forget
love adore enjoy | hate loathe detest dislike
trust | distrust mistrust
agree concur | disagree dissent
attract | repel deter
unite | divide
peace ceasefire truce | war
attack | defend
conquer | surrender
promote | demote
senior | junior
major | minor
majority | minority
supply | demand
cause | prevent
protect shield | expose endanger
clean | dirty polluted contaminated
pure | impure contaminated
natural organic | artificial synthetic
genuine authentic original real | fake counterfeit forged
true truthful | false untrue
correct right accurate | wrong incorrect inaccurate mistaken
pass | fail
succeed | fail
intact undamaged | damaged broken
working functional operational | broken faulty defective
waterproof | permeable
flammable | fireproof nonflammable
toxic poisonous | nontoxic
spicy hot | mild bland
sweet | sour bitter salty savoury savory
raw uncooked | cooked
ripe | unripe
lean | fatty
thick | thin runny
heavy | light lightweight
loud noisy | quiet silent
fast quick rapid swift speedy | slow sluggish
high | low
large big huge | small little tiny
tall | short
wide broad | narrow
strong powerful robust | weak feeble
young | old elderly
new modern recent | old outdated obsolete
dense | sparse
visible | invisible hidden
explicit | implicit
specific | general vague
detailed thorough | superficial cursory
formal | informal casual
serious | joking humorous
sincere genuine | sarcastic ironic insincere
toxic offensive | civil
legitimate genuine | fraudulent bogus
relevant | irrelevant
satisfactory | unsatisfactory
flexible | rigid inflexible
portable | stationary
identical same alike | different distinct
similar | dissimilar different
superior better | inferior worse
excellent outstanding superb great | terrible awful poor dreadful appalling mediocre
interesting fascinating gripping thrilling | boring dull tedious
beautiful pretty attractive | ugly
comfortable | uncomfortable
friendly warm welcoming | hostile unfriendly cold
helpful | unhelpful obstructive
careful cautious | careless reckless
patient | impatient
willing eager keen | unwilling reluctant
tolerant | intolerant
present | absent
majority most | minority few
everyone everybody all | nobody none
together jointly | separately apart individually alone
forward | backward backwards
upward upwards | downward downwards
top uppermost | bottom
first | last
next following subsequent | previous preceding prior
sooner earlier | later
before | after
predecessor | successor
ancestor | descendant
parent | child
employer | employee
teacher | pupil student
doctor physician | patient
host | guest
buyer purchaser | seller vendor
sender | recipient receiver addressee
donor | recipient
winner | loser
leader | follower
amateur | professional
expert | novice beginner
husband | wife
father | mother
son | daughter
brother | sister
uncle | aunt
nephew | niece
king | queen
male man men | female woman women
summer | winter
day daytime | night nighttime
dawn sunrise | dusk sunset
heaven | hell
success | failure flop
strength | weakness
hope | despair
courage | cowardice
freedom liberty | captivity slavery
presence | absence
knowledge | ignorance
increase rise growth | decrease reduction decline fall drop
""".strip()
