"""Words of prompts, and the known words that lie one slip away from them or from a frequent word.

All in lower case. :data:`NEAR` holds what dropping, adding, doubling, swapping or replacing a letter, misreading a
shape, or splitting can make of a word in ``FREQUENT``, ``IMPERATIVES`` or :data:`PROMPT_WORDS`.
"""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

PROMPT_WORDS: frozenset[str] = words(
    """
    abbreviation abbreviations accurate accurately adapt additionally adjust advantage advantages advice
    agreements alternative alternatives ambiguous answered answers append appropriate approximately argument
    arguments array asking aspect aspects assist assistance assistants assumption assumptions attachment audience
    balance behavior behaviour bracket brackets briefly budget bullets buyer calculation caller carefully
    categories category characteristic chunk chunks citation citations claim claims clarification clarify
    classification classified classifier clearly client clients colleague column columns comma commas comment
    comments communicate comparable comparison complaint complaints complicated comprehensive concise concisely
    conclusion condense condition configuration confirm connect consequence consequences constraint constraints
    construct contain contents conversation convey correction correctly courteous critique crucial currency
    customer customers dataset deadline decisions deduce definition definitions deliver delivery demonstrate
    derive description descriptions details device diagnosis dialog dialogue dictionary directive disadvantage
    display disregard document documents drawback eliminate email emails emotion emotions enhance entities entity
    enumerate equivalent error errors essay essential exact examples excellent execute expects explained explains
    explanation explanations explicitly expressed extracted extraction factual favorite favourite feedback fetch
    folder formatted formatting fraud frequency frequently friendly functions furthermore generated grammar
    guideline guidelines helper helpful highlighted honest illustrate improved improvement incorrect index inform
    input inputs inquiry insight insights inspect instruction instructions introduction invoice invoices
    irrelevant itinerary jargon justification justify keyword keywords labels limitation limitations limits locate
    maximum mentions message messages minimum mistake modify moreover neutral notice notify numbered object
    objective objects obligation obtain obvious opinion opinions option optional options orders organise outcome
    outputs overview package paragraph paragraphs parameter parameters parcel passage passages password patient
    payment payments perspective phrase phrases placeholder plain plainly policies politely portion precise
    precisely priorities priority procedure profile programme prompt prompts punctuation purchase python quantity
    query quotation quotes ratings rationale reasoning recap receive recipe recipes recognize recommendation
    recommendations reference references refine refund refunds regarding relevant remark rename repeat represent
    request requested requests require requirement requirements responses restaurant retrieve returns reviews
    revise rewritten scenario schema sections sender sentence sentiment separated sequence shipment shorten
    signature solution solutions sorted specialist spelling statement statements straightforward strategy strict
    strictly subjects succinct sufficient suggestion suggestions suitable summaries summary supplier suppose
    symptom symptoms synonym synonyms synopsis target temperature template templates tenant thorough thoroughly
    timely topics transcript translated translation traveller triage tutor typical unrelated update urgency urgent
    useful users utilize valid variable variables verbatim viewpoint vocabulary welcome wording workflow
    """
)
"""What instructions are made of, besides the frequent words of English; readable even when damaged."""

NEAR: frozenset[str] = words(
    """
    abbr abbrev abject ably abut accord ace aced aces ached aches acing acquires act acted acton ada adapter adder
    addressee addressees adj ado adopt adv advantaged advises aery aft age aged ages agility ago agree ague aides
    aiding ail ailed ailing ails aim aimee air airs alan alar alas alb alder ale alert ales alger aline alisa all
    allah ally aloe alt altho alum alums ample amply ana anal and andres angie angled anglers ani anise ann
    announces annul anon ant anther antone ants any ape aped apes app appal appals apples appointee approx apter
    aptitude ara arable araby arc arced arch archers architect are ares argus aries ark aron arranges arse art
    artiest artiste artistes asp ass asserts asses assoc assumes assures ate attach attacker attender audi audit
    aug auger ava avail ave aver avers avert avid avior awing awoke axed baaed bach backer bade bail bails bake
    baked bakes baking balks balms ban banded banding bandy banes banging banked bans bar barbed bard bared barer
    bares baring barked barley barn barr barron bars baser basie bask basket basks basses bassi bast bastes bat
    bated bath bather bating baton bats batter battled bauds bayed bayes beached bead beaded beading beads beagles
    beak beaks bean bear bearding beards beasts beau beaus bed bedside bedsides bee beet beetled beg behan bela
    belie belied believer believers belles bellow ben bend bent berating bering berra besting bests bet betas beth
    bets betted bewaring bic bide biding bight biking bilks billet billets bin bind binds birch bit bland blare
    blat blats bled bleed bloats blocs blonds blots blow boars boas boast boasts boded bodes boding boer boink
    bolder boles bolls bolts bond bonded bonding boned boners boney bonner booked boom booms boors boos boot booty
    borer bores boron bot botch bothers bottled bouncer bounces bounder bower bowing bows box boxed boxers boyer
    bra brace braces brad brads brainy braked braking bran bras brats braved braver brawn brays breaches breast
    breathes breathy bred bret brewed brice brie brier brig brigs brine briny brit brood broom brooms bros broth
    brunt brushes brutish bryon bud bugged bugler bulks bull bullion bully bums buns bunt bunted bunting bur
    buries burn burner burris burs burt bus bused bush bushed bushing buss busses bust but butch butted bytes
    cached caches caching cads cages cain cains cal cali calif calked calking calks callas calmed calmer calming
    calms cam camped campos campy cams camus can candid cane cant cap caped caps capt captures car cara carded
    cares caret caries carl carla carly carom carps carr cart carted cartier carver carves cary cased cash cashed
    cashing casing caster casts cat catchers categorises categorizes cater cather cation caved caws ceases celli
    cellos cement cent centred cession challengers champ chan chanced chanel chant chanted chanting chap char
    charger chargers charley charred chars charting chary chaser chases chat chatted chatter che cheat cheeky chef
    chen chews chi chiba chic chico chid chili chime chimps chin chink chinks chino chins chock choirs choker
    chokes chops christ christie chunky cis cisco cites clack clam clams clan clarity classed classifies clay
    clayton cleaner cleansed clearer cleat clem clements cling clint clipped clocked clod closest clot clothed
    cloths clots clove clover clovers clowns cloyed clubbed cluck clucked cluing clumped clutch coal coaled
    coaling coasts coat coats cock coded codex cods coeds coffer coiled coiling coked cokes coking col collect
    colo cols com coma comas comb comer comers comm commandeer commences commended commit commute commuted
    commuting compares compete complains completer completes completing compliant complicates compo composes
    computed con concerti conch conduced cones confer conform cong congest conn connecter cons constrains
    constrict constricted constriction consumes cont converts convex coo cooed cooing cook cooker cool cooler
    coons cooped cooping coots cop copes coping copped cops cords cored cores corey corms corned cornet corning
    corp corpora corral costing cots counties coup coupe coupes cove covert coverts coves covet coveted covets
    covey coyer cracker crackled cram craps crashes crass crate crated crates crating craved creak crease creased
    creel crested cresting crete crier criers crises cristina critic criticises criticizes crock crocked crosser
    crow crowed crows crushes cry cubs cult cunt cunts cup cur curbed curdled curdling cure cured cures curing
    curios curl curler curses curt cuss custom cut cute daft dais dally dam damion damn dan dana dancers dander
    dane danes dank dare dared daren dares darin daring darting dash dat davids davies dawn dawns day dazed dazes
    dazing dean dear dearly dearth dearths debit debt debug dec declares decode decoded decodes decoy dedicates
    dee defect defection defenced defencing defensed defensing defied defies definer definers deice deign deigned
    del deli delia delivers dells dem demo demons den denis dens dent dents deny deon depart deportment derail
    derailed derails descent descried descries deserter deserves desiree detainee deter deuce develop devin dial
    dianna dianne dicing dick diction dies diff differ dig dills dimer din dina dine diner ding dings dink dinned
    dinning dion dip dipper dipping dire directer dis disc disco discoverer discus discuses dished displaces dive
    diver dives divider divides doc dock doer doily doling dolly dominates don dona donner donny dons doping dose
    dosed doses doted dotes doting doubter dove dow downed downing downy draftee drainer dram drams drano draught
    dresser dressers drier dries drifter drip dripped drips drivers driving droned droning drooped drooping droops
    drop dropper drover droves drown drowns drubbed drubs drying dual duane dub dubs duct ducts duding dung dunk
    dunner duped dusts duty dyking ear earl earls earn earner ears ease eases eat eater eaves eco edger edible
    eery eider eights elated elect elf eli elide elisa eliza ella ells eloise eloped elsie elves elvia ember
    emerge emil emo emphasise employ employe employes ems end ending ends endure enema eng ensue entitles enure
    equip era erased ere erect eric ermine err erred escapee escapees esp essen est establishes ester etched
    etches ether euro eva eve evens evert eves ewer exam exampled excel excerpt excl exec exert exerts expedience
    expediences explodes explores expo expresses extra fable fables fad fades fags fail fairs fakes faking fallow
    fallowed fallowing fallows fame famed far farce farces fared faring farmed fart fasted fat fats favor favour
    faxed faxes faxing fearing feat feats feb fed feds fee feed fees felling fells fem fended fender fends fer
    fern fest fests fiats fie fiend fiends fifes fig file filing filler fills filly filmy fin finales finer fines
    fining finis finises finisher finishers finnish finny fins fir firmed firmer firming firs firth fist fit fits
    fixer fixes fla flak flake flakes flamed flamers flasher flashes flawed flawing flaws flaying flays fled flee
    flicker flied fliers fling flip flipper flit flo floats flocked floes flogs flopped floss flounder flout flow
    flu flues flusher flushes fly focussed focusses foiled foiling foils foists fold folded folds follower fond
    fonder font foo fools for forded fording fore fores forger forges forked forking forks forrest forts fount
    fours foxed frack fracked fracks fraction frail frailer framer framers framing fran franc francesca francisca
    franck francois francs fred freer frees fri friction frier fries fright frighting frights fro froth frying
    fuck fucked fucker fuds fulled fulling fulls fun fund funded fundy fur gabbed gabble gabs gages gain gaines
    gal gale gales gall galley gals gamed gamey gaols gape gapes gaping garbs garret gasp gasses gated gavel gazes
    ged geek gees gen gene generates genius genres gens gent geo ger germ germane get gibes gibing gif gild gilds
    gilt gin girted girts glade glads glassed gloss glosses glow gnus goads gods golds gong goody goofs gorge gory
    got gov govern gown grab grabber graces grad graded graders grads gram gramme grams graphs grater graved grays
    greens greta grieg grin grip griping groin groove grope grosz grovel groves grow gui guide guile guises gust
    hacked hacking hacks hails hairy hal hales haley haling hallow halos hals han handel handy haney hang hanker
    hanks hans hared haring harped hart hash hasted hasting hat hater hates hath hating hatted hayed haying hazed
    header heady heal heaping hears hearth heater heats heller hells hen hench hepper her herd hers hes hickey hid
    hided hie hied hieing highlighter hilly him hims hing hinted hinting hip hires his hisses hit hitch hither
    hitter hived hives hoard hobby hoc hod hods hoed hoeing hoes hoisted hoisting hoists hokey holed holing holmes
    homed homers homey homeys hon hones hooding hoods hooker hooks hooped hoots hop hopped hops horde hordes
    horsed horsey horus hos hose hosed hoses hosing hound hounded how howe hug huger hulls hum humane hun hunch
    hunt hurdling hurl hurray hurst hurtling hus hushes hutton ian ice iced ices icy ida ide ides ied ike ill
    illus imp import improves ina inc ind indicted indio indue indus ines infect infernal infested infirm info ing
    ingested inject inning ins insect instruct int intro invent invoiced ion ions ios ire irs irtish isabela ism
    iss its ives jaded jame jams jan janie japes jar jarred jayson jew joiner joked jokers jonson jude julio jump
    jumper jun kathrine ken key kick kicker kicky kid kilo kilos kin kinda kipling kisser kissers kit knits lab
    lace laced lacing laded lading lads lager lain lames lams lanced lancing lander landon lane lang lansing lapps
    laps lards las lase lased lases lasing lat lather lauded lauding lauds laugh launcher launches law laxer lay
    lazying lea leaded leafing leafs lean leaner lear learn leas leases leasing leaved lectured lecturers led
    ledge leers lees lefter leg len lens lent leon lept les lessee lest let lets levant lewder lib libby lice
    licensee licks lie lied liens lieu lifer lift lighted liker liking lily limber limed limes limned lin lina
    lind liners linger lining link linker lion lister lit lite liter lively livers load loader loafed loafing
    loaner lobed lobes locale locales locates locke locket locking lode lodes lofted lofting lofts log loge loges
    lois lon loner longed loomed looming looms loons looser looses loosing loped lorry los lose losers losses lot
    louie low lowe lowed lowing lows loxes loyd lucked luis lully lunched lusted lusting lusts mac mach macro mad
    mai maine maj makers man manage managers manged manger manly manned mans manufactures maples mar mara marc
    marcher marches marci marcy mare mares marin mariner maris marisa marital marla marlon marne maroon marred
    marries marring mars mart marta martian martina marts mas mash masking massed massey mast mastery mat mate
    mated math mather mats matt matte matted mattes matting mavin max mazes meal mealy meany meat med medan medial
    mediation medic medina meghan mel melt memo men mend merced mere meres merges mes mess met mete meted metes
    meting mewls meyers mich micheal michel mid miens mig mikes mil miler milers milker milks mill milled millet
    mils mimes miming min mindy mined miners ming mini minis minot minster minuet minuets minuted miser misses
    mist misted mit miter mix mixer mixes mob mobil mobster mod modal modem modems mods mohamed moises moister
    moistly moldy moles molls mom mon monet mons mont monty moods mooned mooney mores morn moron mos mosey moseys
    moss mosses mote motes moth moths mousse mouths mover movers muddle mules mulled mullet mullion mulls multi
    mum municipal muse musial mussed mussing muster muter mutt myles naive nam napes nary nat nate natives navel
    nco neatly ned needy nerds nerved net neural new nighty nites nod nods noel noes nominates non nor norm norma
    noses not notional notions nov noyes nth numb numbed oat obj observes occur oct odder ode oder odes ods off
    offed oked oks ola old one opener ops opt orated orates oration orc ore organ organiser organises organizer
    organizes origin our out outs overage overs ovoid owed own pac pace paces pacing pack packer packets paged
    pagers paging pained paining paints pal paler pales palls pamper pan pane panes pangs panned panning pans pant
    panted panting pantries panty par parable parch parches pardons pare pared pares pariah paring parka parkas
    parred parries parrish parry pars parsi participates partied pas passer pasted pasting pasts pat patched pate
    pates pats patter patties patton patty pauli pauses paves pay payed payer payers pays pease peer peers pen
    pend pendent penn pens per perch peron persona perter pester pesters pet petition pets pewter pewters phases
    photo phrased picker picket pickets pickled pickling picky pict pie pieced pied pier pierces pies piked piker
    piking piles pilled pills pimping pinch ping pint pinter pints piped pipers pipped pips pis pisces pisses pit
    pitches pith pitting placer placers placket plaint plaints planed planing planner planter plated plating
    platte plea pleader pleases pled plied plies plopped plotter ploys plumping ply plying pock pocked pocking
    pocks pod poi pointer pointy poisson poked pokes pokier pol poled polices politic polly polo pols pond ponds
    pone poole pooped poops pop popes poplar popper pored poring ported pose posed poser posers posing posit poss
    posses pot potent potion pots potted potts pounced pouncing pour pouted pouting pow powder powdered powders
    prated prating pray preciously prefect premised premiss premisses prep pres preset preys priced pricey prides
    pried pries prim printer prioritise prioritises prioritizes prise prised prises prized pro probe probed
    processional prod producers prof profess professed professes prom promo promoter promoters prompter prop
    proposer proposes protester provably proves providers prude prying pub pubic publishers pucks puller pulped
    pulping pulps pump pun pupping purchaser purchases pure puree pus push pusher pushers puts putt puttying qua
    qualifies quantify quarters ques quilt quire quit quits quota quoted racer racers racked racket rackets
    racking racks racy radial radii raft rafted rafting rage raged rages raging raided rail raked raking ram rams
    ran rang ranged rangers ranker rankled rankling rant ranter ranting rapes rared rares raring raster rat ration
    rationals rations rats ratted ratting raved raves raving raw razed razes razing rds realises reamed reap
    rearing rears receivers recognise recogniser recognises recognizer red redcap reds reefer ref refereed
    referenced refute regaining regains reign reigned relation relaxes relayed relies relieves relived rely rem
    remover removes rena renal renames rent renter reorder rep repay replaces replay requester requite requited
    requites resent resented resin resp retainer retard retarded retarding retiree retires retrain retrained
    retraining retrains retried returnee reuse reused reuses rev reveled reverence reverences revises revives
    revved reword reworded rewrote rhone ribbed rices ricing ricked rickets ricks rid ridding rids rifer rig rigs
    riled riles rills rio rios rioted rioting rip ripper rippled riser risers risking risky rite rivet rivets
    roach roached roaches roams roan roars roaster rob robe roberta rocker rockers rods roes roget roiled roils
    roister rolex rolland romes ron roods roofs rooks roomy roost rooster roped ross rot rote rots roughly rounder
    rounding routs rove roved roves rub ruby ruder rued rues rulers run rungs ruses rush rushes rusks russ rusts
    sac sack sad sade sades safes sage sages sail sails sake sale sallow salmon saloon salve sam sames sana sand
    sanding sane sans sapped sars sate sated sates sating saver savers saw sawing sawn scads scald scaled scan
    scares scarfed scarfs scarred scat scats scoots scorers scot scour scouring scram scrams script sea seal
    sealer sealing seam seamed seams sear seared searing sears seas sec sect sedated sedating seder see seed
    seeding seedy seeking seep seeped seeping seeps seer seers sees seized seizes sell sells selves sen send
    sentient sep separates sept sequences sere serer serge serous servers serviced set sets settle settler settles
    sever severity severn sewing shack shaded shading shads shakers shale shamed shames shaming shams shard shards
    shari sharking shat shave shaved she shed shelly sheol shes shies shifty shims shinny shins shipper shires
    shirr shirrs shit shits shlock shoe shoed shoo shooing shoos shop shopped shored shoring shorted shoves showy
    shred shucked shucking sian sick sicked sicking sid sids sift sifting sifts sigh sighing sighs signer signers
    silky sill sills sim simmer sin sine sing singe singed singes singled sink sinning sins sipped sipping sips
    sire sired sires sis sises sit sited siting sits situ sixes sizer skate ski skipped skipping skit skulk slain
    slap slated slating slats slavs slily slip slipper slit sliver sloe slopped slopping slops slots sluice sly
    smear smears smelling smelly smiley smileys smite snaked snaking snap snapper snare snared snares snaring
    snark snarks sneer snell snipped snipping snips snits snoot snoots snore snores snort snorts snots snout
    snowed snows soar soave sock socked sod soiled soiling sol solders sole soles solis solon sols solver son sony
    soot sop sopped sopping sops sore sorer sores sorta sorter sots sottish sough sounder soups sour sourced sowed
    sower sown sows spa spade spake spam span spar spars sparse spate spats spec sped speer speller spewed spice
    spilt spin spins spire spit spits spitz splice spline spoils spore sporing sported sporty spreed sprig sprigs
    springy sprints sprung squad staci stael staging stags stain staked stale staled stales staling stalk stan
    stance stat stater stats statues stature stave staved staves stdio steak steaming steams steeling steeps stem
    steppes sterns sties stile stine stings stir stirrer stoked stokes stol stomp stomped stomping stomps stoned
    stoners stoney stoop stooped stooping stoops stopper storeys storied storing stork storks stormy strand
    stranding strayed straying strays streaking streaks strep stretcher stretchers stricture strictures stride
    strikers stringer stringy striped strips stropped stropping strops struck strung stu stud studs stung stunt
    sturdy sty stye styes sub subj subs suck sucker suckled suckling sufferer suggester sui suit suites sully sum
    summarises summarizes summed sumner sung sup supper suppler suppliers supposes surf surly surround sven swap
    sward swat swats swaying sweating sweats swelling swerve swerved swerves swerving swig swinger swingers
    swinging swings tab tabled tack tacked tacks tact tail tailing tails taint takers tale talker tamed tamer
    tames taming tamped tams tan tank tanned tans tap taped tapers taps tar taring tars tasking tass taster tastes
    tate taxed tea teachers teaks teals tear teary teas teaser teases teat teats tech techno ted tee teemed teems
    tees tel temp tempe temper tempera temporary ten tend tens tensed tenser tent tents tern terns terr terri
    terror tess tester testes testy tet texted texting thales the thea thee thees thin thins tho thong thongs thor
    thorns thou throe throes throughput thunk thunks thy tic tick ticked ticker tickers ticks tide tided tides
    tied tiers ties tights tikes tildes tile tiled tiling tilled tilling tim timed timers timex timor tin tina
    tine tines ting tings tip tipper tippled tips tiring tit tittle tittles toady toes tog toiled toils token
    tokes toking tolls tom tomas tomes toms ton toned toni tonnes tons top toppled tor tories tors torus tory
    touted touting touts tow towed townes tows tracer tracers tracey traci tracker trader traders trainee tram
    tramped trams tran trance trances trans transfer transitted translates transmit trap trapper traveler
    travelled tray tread treas treed trended trends tress trialed trialing tricky trikes trims trios tripe tripos
    tripped trolled tron tropic tropics trough trowel trucked trucker trued trues truest truing try tryst trysted
    tsars tubed tubers tubs tuck tucking tucks tues tug tums tuned tuner tuners tuning tunny tuns turing tying
    tykes typed tyree tyrone tzars ugh unify unitas unite unites unities untied updater upped ups ural urge urn
    urns uss ute utilise val vale vales vantage vapid var vent vented venting venues verb verity versed vial vic
    viced vices victors vidal vie vila vilma vine viols vireo vision vogue voided vol volley voters wads wafer
    wafts wag waged wager wagers waging wags wails waiter waits waives waked wakes wale waled waling walled waller
    walling wan wand wander wanderer wane waned waning war ward warding ware wares waring warmed warmer warn
    warping wars warts was wash washer washes waster wastes watcher watchers wats waver wavers way weal wear weary
    weaved weaves weaving web webs wed wees wei welles whet whip whits wick wicker wickers widow widows wifely
    wight wigs wile wiling willies wills win wincing windy wined winger wingers wining wins wintery wired wireds
    wis wisely wiser wises wisher wishers wist wit witched woken woks won wonder wong wonted woodsy woofs woos
    wordy wore wormed worming worms wounder wrapper wrier wriest wring writ writers writs wroth yankee yea yeas
    yeats yell yelping yon yong you yous zeal zed zoned
    """
)
"""Known words that damage to a word must not make of it; none of them is in ``FREQUENT``."""
