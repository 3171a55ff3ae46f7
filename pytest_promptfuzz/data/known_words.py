"""Frequent English words a typo must not turn another word into (form for from, trail for trial).

Lower-case words of four letters and more: the most frequent ones, and those that lie one substitution or
transposition away from another frequent word.
"""

from __future__ import annotations

from pytest_promptfuzz.text.expressions import words

FREQUENT: frozenset[str] = words(
    """
    aaron ability able about above academic academy accent accept accepted access according account aching
    acquired acres across acting action active activities activity actor actress actually adam adapted added
    addition additional addressed addresses adopted advanced advances advised adviser advisor advocated
    advocates aerial affairs affect affects africa african after again against agency agent agreed agreement
    agrees ahead ahmad ahmed aided aimed aiming aircraft aired aires airing airport albeit albert alberta
    alberto album albums alex alexander alias alice alien alike alive allan allen alley allied allies allow
    allowed almost alone along alongside aloud already also altar alter although altitude always america
    american americas among amount analysis ancient andrea andreas andrew andrews angel angela angeles angelo
    angels anger angle angles anglo angola animal animals ankle announced announcer annual another answer anti
    anton anyone anything anyway apart appeal appealed appeals appear appearance appearances appeared appears
    apple applied applies apply appointed approach approached approaches april arabia arabic arabs arched archer
    arches architecture archived archives area areas argentina argentine argued argues arise armed arms army
    arose around arranged arranger arrived arrives arthur article artist artists arts asia asian asked assembly
    assess assets assigned assistant associated associates association assume assumed assure assured aston
    attached attack attacked attempt attended attention attitude attributed attributes audition august austin
    australia australian author authority available avenue average avery awake award awarded awards aware away
    baby back backed background backing backs bacon badly baker ball ballet ballot balls band bands bank banker
    banking banks banned banner barber barely barker baron barrett barrier barriers barry barton base baseball
    based basel bases basic basil basin basis basketball bass batch bates battalion batted battle battles beach
    beaches beams beans beard bearing bears beast beat beating beatles beats beautiful beaver became because
    become becomes becoming been beetles before began begin beginning begins begun behind being beings belief
    believe believed believes bella belle bells belly below bench bending beneath benny berlin berry beside
    besides best better betty between beyond bill billion bills billy binding birth bishop bitch biting bitter
    black blacks blade blake blame blank blast bleeding blend blind blink block blocks blond blood bloom blowing
    blown blows blue board boat boats bobby bodies body boeing bolton bonds bones bonnie bonus book books boost
    booth boots border bored boring born boston both bother bottle bottles bottom bought bounced bound bounded
    bowed boxer boxes boxing boys brain brains brake brakes branch brand brass brave braves breach bread break
    breaking breath breathe breaths breed breeding breeze brent brett brian brick bricks bride bridge brief
    brien brigade bright bring brings britain british broad broadcast brock broke broken brook brooke brooks
    brother brothers brought brown brows brush brushed brushing bryan bucks buddhism buddhist build building
    buildings built bullet bulls bunch buried burned burning burns burnt burst burton buses bushes business
    butler butter button byron cable california call called calling calls came camp campaign camps campus canada
    canadian cancer candidate candle candy cannon cannot canoe canon canton canyon capacity capital capitol
    capped captain captured carbon card cards care cared career carey cargo carlo carol carolina caroline
    carriage carried carrier carriers carries carry carrying cars carson carter carved case cases casey cast
    caste casting castle catch catcher catches catching catherine catholic cattle caught cause caused causes
    caves cease ceased cell cello cells census center centers central centre centres century certain chain
    chains chair chairman chairs challenge challenged challenger challenges champion champions championship
    chance chances chang change changed changes changing channel chapter character characters charge charged
    charges charging charles charm charming chart charted charter chase chased check checks cheek cheeks chess
    chest chicago chick chief child children chile chill china chinese chips choice choir choked chose chosen
    chris christian christina christine christmas chuck church cities citing city civic civil claimed clara
    clare clark clary clash class classes claude clause claws clean cleaned cleaning clear cleared clearing
    clement clerk click clicked clive cloak clock close closed closer closes closet clothes cloud club clubs
    clung coach coached coaches coast cocked code codes coffee coined coins cold collar collection college
    colombia color colts columbia combined combines come comedy comes coming command commanded commander
    commenced commented commercial commission commissioned commissioner committed committee common commonly
    communities community commuter companies company compared competed competes competing competition complete
    completed completely complex composed composer comprised comprises computer computing concept concepts
    concern concerns concert concerto concerts concluded concludes conditions conducted conference congress
    connected consent considerable considerably considered consists constructed construction consumed consumer
    contact contained container contains contemporary content contest context continue continued continues
    contract contrast control controlled controller convent convert cooked cooking cooled cooling cooper
    coordinated coordinates copper coral corner corporation corps cost costa costs couch could couldn council
    count counted counter countries country counts county couple coupled couples course court courts cover
    covered covers crack cracked craft crash crashed crashing crater cream create created creates creating creek
    crept crest crew cried cries crime critical criticised criticized crops cross crossed crosses crowd crowded
    crown crowned crush crushed crushing crying cultural culture cupped curious curled curling current currently
    curse cursed curtain curve curved curves cutting dagger daily dairy daisy dalton damage damaged damages
    damon dance danced dancer dances danger daniel danny dante dark darker darren darted data date dated dates
    dating daughter david davis dawson days dayton dead deal dealing deals dealt death deaths debut decade
    decades decay december decent decide decided decides decision declared decree dedicated dedication deemed
    deep deeper defeat defeated defence defend defended defender defending defense defined defines degree delay
    delegation della delta democratic demon dennis denny dense density dental department depend depending depth
    depths deputy derived derives described describes deserted deserve deserved design designation designed
    designer desired desires despite destroyed destroyer detail detailed detained detection detention developed
    developer development devon diana diane diary didn died different difficult digital dining dinner dipped
    direct directed direction directly director directors directory discovered discovers discovery disease
    dishes displaced displayed disputed disputes distance distress district ditch divide divided divine diving
    division dixon doctor dodge does doesn doing dollar dolls dominated donald done donna door doors double
    doubled doubles doubted dover down downs draft drafted drain drained drake drama drank draw drawn draws
    dread dream dress dressed dresses dressing drew dried drift drifted drink dripping drive driven driver
    drives dropped dropping drops drought drove drowned drowning drug drugs drums drunk dubbed ducked duke
    dumped during dusty dutch dying each earlier early earned earning earth eased easier easily east easter
    eastern easy eating economic edge edged edges edition editor education edward effect effects effort efforts
    eight eighth eighty either elder eldest elected election elections electric electron element elements elias
    elisabeth elise elite elizabeth ellen ellie ellis else elvis emergence emergency emperor empire employed
    employee employees employer employers empress empty enable enabled enables ended enemy energy engine
    engineer engineering england english enough ensure enter entered entire entrance environment episode
    episodes equipment erected erection erotic escape escaped escapes especially established estate esther
    estimated estimates europa europe european evacuation evaluation even evening event events eventually ever
    every everyone everything evidence exactly example except exchange executive exotic expect expected
    expensive experience experienced experiences expert experts exploded explored explorer export exports
    express expression extant extend extended extensive extent eyes face faced faces facial facilities facing
    fact faction facto factors factory facts faded fading failed failing fails faint fair fairy fall falling
    falls families family famous fancy farm farmer farming farms farther fast faster father fault fear fears
    feast feature featured features featuring february federal feeding feeds feel feeling feels feet fell fellow
    fellows felt female females fence fernandez ferry festival fever fewer fiction field fields fierce fifth
    fifty fight fighter fighting fights figure figured figures filed files filled filling film filmed filming
    films final finale finally finals financial find finding finds fine finger fingers finish finished finishes
    fire fired fires firing firm firms first fish fishing fists fitness fitting five fixed flags flame flames
    flank flash flashed flat flats fleeing fleet fleming flesh flicked flies flight flint flipped flood floods
    floor floors florida flour flowed flower flowing flown flows floyd flung flush flushed flying focus focused
    focuses folding follow followed following follows food foods foot football forbes force forced forces
    forcing foreign forest forget forgot form formal formally format formation formed former formerly forming
    forms fort forth forty forward foster fought found foundation founded founder founding fountain four fourth
    frame framed frames france frances francesco francis francisco franco frank franz freak freaking free freed
    freedom freeze french fresh fried friend friends from front frost frown frowned frowning fucking full fuller
    fully function funding funds funny furious further future gable gained gallery game games gaming garde
    garden garion garrett garrison gates gather gave gaze gender genera general generally generation generic
    genes genetic geneva gentle gentleman gentlemen gently genus george georgia gerald gerard german germans
    germany gets getting giant giants gifted gifts giles ginger girl girls give given gives giving glanced
    glances glare glass glasses global glowing goal goals goes going gold golden gone gonna good goods goose
    gotten government governor grabbed grabs grace grade grades graduated graduates grain grand grant grants
    grape graph grasp grass grave gravel graves gray great greater greece greek green greene grew grief gripping
    groan gross ground group groups grove growing growl grown grows growth guard guess guest guided guides guild
    guilt guitar hadn hague hair haired hairs half halfway hall halls hallway hand handed handing handle hands
    hanging hanna happen happened happy hard harder hardy harley harper harrison harry harsh harvey hatch hated
    hatred have haven having head headed heading headquarters heads healing health healthy hear heard hearing
    heart heat heated heath heather heating heavy hector heels height held hell hello help helped hence henri
    henry herald here herman hernandez herself hiding high higher highest highly highway hiking hill hills
    himself hindi hindu hired hiring hissed historic historical history hitting hockey hold holden holder
    holding holds holes hollow holly holy home homer homes honey hong honor hooked hope hoped hopes horse horses
    hospital host hosted hosting hosts hotel hour hours house housed households houses housing howard however
    huge hugged human humans humor hundred hunger hunted hunter hunting hurling hurry hurt hurting husband
    iceland idea ideal ideas identify identity illinois image imagine imaging immediately impact implied implies
    important include included includes including income incorporated incorporates increase increased increases
    incredible incredibly independent india indian indiana indians indicated indicates indie individual
    individuals industrial industry infantry infection inferior influence influenced influences information
    initial initially injection inland inner inside instead institute intel intend intended intent intention
    inter interest interior internal internet interval into introduced introduces invented invention inventor
    invested investor involved involves iran ireland irish iron isabella isabelle isbn island islands israel
    issue issued issues italian italy items itself jack jacket jackson jaime james jamie january japan japanese
    jared jason javier jazz jean jeans jenna jenny jerry jersey jewish jockey john johns johnson join joined
    joins joint jokes jonas jones joseph journal journalism journalist judge judged judges jules julia julie
    july jumped jumping junction june junior just justice justin katherine keep keeper kelly kenny kept kerry
    kicked kicking kicks kidney kids kill killed killer killing kills kilometers kilometres kind kinds king
    kingdom kings kiss kissed kisses kissing kitchen knew knots know knowing knowledge known knows kong label
    lack lacked lacking lacks lady laid lake lakes lamps lance land landed landing lands lanes language
    languages large larger largest larry laser last lasted lasting late later latin latter laughed laughter
    launched laurel lauren laurence lawrence laws lawson lawyer layer laying lead leader leaders leadership
    leading leads league leaned leaning leans leapt learning lease leased least leather leave leaves leaving
    lecturer lectures leeds left legal legion legs lemon length lengths lengthy less lesser lester letter
    letters letting level levels liberal library licence license licked lies lieutenant life lifted lifting
    lifts light lighter lighting lightly lights like liked likely likes lilly limited line lined liner lines
    linked linking links lips list listed listen listing lists literacy literary literature little live lived
    liver lives living lloyd loaded loading loaned loans lobby local locals located location locked locker locks
    lodge london lonely long longer look looked looking looks loose lord lords loser loses losing loss lost
    louis love loved lovely lover lovers loves loving lower lowered loyal lumber lunch lying lynch machine made
    madness mafia magazine magic main mainly major majority make maker makes making male males managed
    management manager manages manner manor manual manuel manufactured manufacturer many marcel march marched
    marching marco margin maria marian marie marina marine mario marion mark marked marker market marking marks
    marriage married marry marrying marsh martial martin marty marvel marvin mary mason mass masses massive
    master masters match matched matches matching material maternal mates matter mattered matters mature maybe
    mayer mayor meals mean meaning means meant measured measures medal medals media median medical medication
    medicine meditation meet meeting megan melting member members memorial memory mental mentioned mercer mercy
    merged merger merry metal metals meter meters method metre metres metro mexico meyer michael michigan middle
    might mighty mike mile miles military miller million mills mind minds mine mines mining minister ministry
    minor minute minutes miss missed missing mission mistaken mistakes mister mistress mitch mixed mixing moaned
    mobility model models modern modes mohammad mohammed molly moment money monster monte month months moody
    moon moral more morning mortal mortar morton moses most mostly mother motion mound mount mountain mountains
    mounted mouse mouth move moved movement moves movie moving much muhammad muller multiple municipality
    munster murder murdered murderer museum music musical must muttered myself nacional nails naked name named
    names naming nancy nation national nationalism nationalist nations native natural nature naval navy near
    nearby nearly necessary neck need needed needing needs nerve nerves network never newer news newspaper next
    nice nick niece night nights nine nixon nobel nobility noble nodded nodes nominated none normal normally
    norman north northern norton notable notably note noted notes nothing noticed notices noting notion novel
    november nuclear number numbers numerous nurse observed observer occupied occupies occurred ocean october
    offer offered offers office officer officers offices official officially often ohio okay older oldest olive
    olympics once ones online only onto open opened opening opera operated operates operating operation
    operations orchestra order ordered organisation organised organization organized original originally other
    others outside over overall owing owned owner pablo paced pacific packed packet packing page pages paid pain
    paint painted painter painting pair paired pairs palace panties pants paolo paper parent parents paris
    parish park parked parker parking parks parliament parsons part parted partial participated particular
    particularly parties partner parts party pasha pass passed passes passive past patch patches patent patents
    path patrol patrols patron patrons patted paul paula paulo pause paused paved paying payne peace pending
    pennsylvania penny pension people percent percy perfect performance performed performer perhaps period perry
    person personal persons peter peters petty phase phone photographs photography physical piano pick picked
    picking picks picture piece pieces pierce pierre pillow piper pipes pissed pitch pitched pitcher place
    placed places placing plague plan plane planes planet planned planning plans plant planted planting plants
    plaque plate plates platform play played player players playing plays pleaded please pleased pocket pockets
    podium poems poets point pointed pointing points poison poker poland polar poles police policy polish polite
    political politician polls pools poor popped popular population porch port portal porter porto ports
    position positive possible possibly post postal posted poster posting posts potential potter pound pounded
    pounding pounds poured pouring power powered powerful powers practice practiced practices prague prayed
    prayer prayers praying precious premier premises presence present presented presenter presenting president
    press pressed presses pressing pressure pretty prevent prevented preventing previous previously price prices
    pride primarily primary prime prince principal print printed printing prints prior prison private prize
    prizes probably problem problems process processed processes procession processor produce produced producer
    produces product production products profession professional professor program programs project projected
    projection projects prominent promised promises promoted promotes prompted prone properly property proposed
    prose protect protected protection protest protested prove proved proven provide provided provider provides
    province public published publisher publishes pull pulled pulls pulse pumping punch purchased purely purpose
    purse pushed pushes pushing putting qualified qualifier qualify quality quarter quartet queen quest question
    questions quick quickly quiet quite quote race raced races racial racing radio railroad railway raise raised
    raises rally ramon randy range ranger ranges ranging ranked ranking ranks rarely rate rated rates rather
    rating ratio rational raven reach reached reaches reaching react read reader readers reading reads ready
    real realised realized realizes really reason reasons rebuild rebuilt received receiver receives recent
    recently recognised recognized recognizes record recorded recorder recording records rector reduced reduces
    referred refuge refuse refused refuses regain regained regard regarded regent regiment region regional
    register regular reich reilly related relates relations relationship relax relaxed relay release released
    releases relegation relied relief relieved religions religious remain remained remaining remains remember
    reminded reminder remote remove removed renamed rental rented replaced replied replies report reported
    reporter reports represented republic republican required requires research reserve reserved reserves reside
    resided residence residency residents resides resign resignation resigned resolution resort resources
    response responsible rest rested resting result results retail retain retained retaining retains retired
    return returned returning revealed revenge revenue review reviewed reviewer revised revived revolution
    reward rewarded rhine rich richard ricky rider riders rides riding right rights ring ringing rings riots
    ripped rise risen rises rising risk risks river rivera rivers road roads robert roberto roberts rock rocked
    rocket rockets rocks rocky roger rogers rogue roland role roles rolled roller rolls roman rome ronald ronnie
    room rooms roots ropes rose roses roster rotten rouge rough round rounded rounds route rover rovers rowan
    royal rubbed rubber rugby rule ruled ruler rules running runs rural rushed rushing russia russian rusty
    ryder sabha sacked sacred sadly sadness safe safely safety said sailed sailing saint salem sales sally salon
    same sample sands sandy santa santo sasha save saved saves saving sawyer saxon saying says scale scanning
    scare scared scars scary scattered scene scent school schools science sciences scientific scope score scored
    scorer scores scotland scots scott scottish scout scouting scream screaming screams screen sealed seals
    search season seasons seat seated seating seats second secondary seconds secret secretary section sector
    security seeded seeds seeing seeks seem seemed seems seen selected self selling semi senate sending sends
    senior sense sensed senses sensing sensor sent sentenced sentences separate september serial serie series
    serious serve served server serves service services serving setting settled settlement seven seventh seventy
    several shade shades shaft shake shakes shaking shall shallow shame shane shape shaped shapes share shared
    shares sharing shark sharks sharp shattered shawn sheep sheer sheet shelf shell shells shift shifts shine
    shiny ship shipped shipping ships shire shirt shirts shock shoes shone shook shoot shooter shooting shoots
    shopping shops shore shores short shorter shortly shorts shot shots should shoulder shoulders shout shouting
    shove shoved show showed shower shown shows shut side sided sides sidney sighed sight sign signed
    significant signing signs silence silly silver similar simon simple simply since singer singers singh
    singing single singles sings sinking sister site sites sitting situation sixth sixty size sized sizes
    skating skill skilled skin skirt skull slapped slate slave sleep sleeping slept slice slick slide slight
    slightly slipped slipping slope slow slowed slower slowly small smaller smart smell smelled smells smile
    smiled smiles smiling smith smoke snake snakes snapped sneak social socialism socialist society sodium soft
    software soils solar sold soldiers solo some someone something sometimes song songs sonny sons soon sophia
    sophie sorry sort sorts sought soul souls sound sounded sounding sounds source sources south southern soviet
    space spain spanish spanning spare spark sparks speak speaking speaks spear spears special specially
    specialty species specific speed spell spelled spells spend spent spike spill spilled spine spinning spite
    split spoke sport sports spot spots spread spring springs sprint squadron square stack stadium staff stage
    staged stages stake stakes stall stamp stand standard standing star stare stared stares staring stark starr
    starred starring stars start started starter starting starts state stated states stating station stations
    statue status stay stayed staying stays steal stealing steam steel steep stein stems step stepped stepping
    steps sterling stern steve stick stiff still sting stint stirred stock stoke stole stomach stone stones
    stood stool stop stopped stopping stops store stored stores storey stories storm storms story straight
    strain strait stranger streak stream streaming streams street strength stretched stretches strike striker
    strikes string strings stripes strode stroke stroked strokes strong stronger structure structured structures
    struggled struggles stuck student students studied studies studio studios study stuff style styled styles
    subject submit subsequently success successful such sucked sucking sudan suddenly suffered suggested suite
    suits summer summit sunny super supplied supplies support supported supporter supposed supreme sure surely
    surface surrey surrounding survey survived survives susan sutton swallow swamp swear sweat sweep sweeping
    sweet swept swift swing sword swore sworn swung sydney system systems table tables tablet tailed take taken
    takes taking tales talk talked talking talks tall tanks tanner tapes tapped tasked tasks taste tasted taught
    taxes taylor teach teacher teaches teaching team teamed teams tearing tears teased teasing technical
    technology teeth television tell telling tells temple tended tender tends tennis tense tension tenth term
    termed terms terra territory terrorism terrorist terry test tested testing tests texas text texts thames
    than thank thanks that theater theaters theatre theatres their them theme themed themes themselves then
    theory there thereby therefore these they thick thief thing things think thinking thinks third thirty this
    thomas thorne those though thought thoughts thread threat three threw throat throne through throughout throw
    thrown throws thus ticket tickets tight tighter tightly tiles tilted time times timing tipped tired tires
    title titled titles today together told tone tones tonight tony took tools tooth topic topped torch total
    touch touched touches tough tour toured touring tourism tourist tournament tours toward towards towel tower
    towers town towns township toxic trace traced traces track tracked tracks tract tracy trade traded trades
    traditional traffic trail trailed trailer trailing trails train trained trainer training trains traits
    transferred transmitted transmitter transport trapped trash travel treasure treasury treat treated treating
    treatment tree trees trench trend trent trial trials tribune tribute trick tricks tried tries trips troops
    troubled troubles truck trucks true trunk trust trusted trustee truth trying tubes tucked tucker tugged
    tumor tunes turks turn turned turner turning turns twenty twice type types typically unable unclear under
    understand union unique unit united units unity university unknown unsure until updated updates upon upper
    urban used uses using usually vague valley value valued values valve varied varies variety various vault
    vector vehicle venue venus verses version versus very vice victor victoria victory video view viewed viewer
    viking viktor villa village vince viola viral virginia visit vital vocal vocals voice voiced voices volume
    vote voted voter votes voting vowel wages wagner waist wait waited waiting waking wales walk walked walker
    walking walks wall walls walsh walter walton wandered wandering wanna want wanted wanting wants warden wards
    warm warming warned warner warning warren washed washing washington wasn waste wasted watch watched watches
    watching water watts waved waves waving wayne ways wealth wealthy weapons wearing wears weather weaver
    website week weeks weight well wells welsh went were werner west western whale what whatever when whenever
    where whereby wherever whether which while whipped whispered white whites whole whom whose wicked wicket
    wickets wide widely wider wife wild will william williams willie willing willis willow wilson wind winding
    window windows winds wines wing winged wings winked winner winners winning winter winters wires wish wished
    wishes wishing witch witches with withdraw withdrew within without witness witnessed witnesses wives woman
    women wondered wondering wood woods woody word words work worked worker workers working works world worry
    worse worst worth would wouldn wound wounded wounds wrapped wright wrist write writer writes writing written
    wrong wrote xavier yanked yard yards yeah year yearly years yelling yellow yield york young younger your
    yours youth zealand zhang zone zones
    """
)


# Known words that are names, or names as well: a capital on them may be there for the name.


NAMES: frozenset[str] = words(
    """
    aaron access acrobat acton ada adam africa african ahmad ahmed aimee aires alan alar albert alberta alberto
    alex alexa alexander alger alice alisa allah allan allen amazon america american americas ana andrea andreas
    andres andrew andrews android angela angeles angelo angie anglo angola ann anton antone apple april ara arabia
    arabic arabs araby argentina argentine argus aries aron arthur asia asian aston audi aug august austin
    australia australian ava ave avery avior bach baker barker barr barrett barron barry barton basel basie bass
    bayes beatles behan bela bella ben benny bering berlin berra beth betty bic bill bishop blake boeing boer
    bolton bonner boston boyer bradley brent bret brett brian brice brie brien brit britain british brock brooke
    brooks bros brown browns bryan bryon buddhism buddhist burris burt burton butler byron cain cains cali
    california callas campos camus canada canadian capt cara carey carl carla carlo carly carol carolina caroline
    carpenter carr carson carter cartier cary casey cather catherine catholic chan chanel chang charles charley
    chase che chen chiba chicago chico china chinese chris christ christian christie christina christine christmas
    chrome chuck church cisco clara clare clark clary claude clayton clem clement clements clint clive cloud colo
    colombia columbia com cong congress conn cook cooper copilot corey costa crete cristina daisy dalton damion
    damon dan dana dane danes daniel danny dante daren darin darren dat david davids davies davis dawson dayton
    dec december dee del delia della dem democratic denis dennis denny deon desiree devin devon diana diane dianna
    dianne dina dion dixon docs dona donald donna donner donny dover dow drake drano drive duane duke dutch east
    easter eastern eco edge edward eli elias elisa elisabeth elise eliza elizabeth ella ellen ellie ellis eloise
    elsie elvia elvis emil eng england english eric essen esther europa europe european eva evert excel explorer
    express facebook facto feb february fernandez finnish firefox fla fleming flo florida floyd forbes forest
    forrest foster fran france frances francesca francesco francis francisca francisco franck franco francois
    frank franz fred french fri friday frost fuds fuller fundy gaines garde garion garrett garrison gates ged
    gemini geneva geo george georgia ger gerald gerard german germans germany gif giles github google gpt grace
    grant graves gray greece greek green greene greta grieg grosz gui guy hague hal haley hall hals han handel
    haney hanna hans hardy harley harper harrison harry harvey heath hector heller hells hench henri henry herman
    hernandez hill hills hindi hindu holden holly holmes homer hon hong hope horus howard howe hun hunter hurst
    hus hutton ian iceland ida ide ied ike illinois ina india indian indiana indians indio indus ines ing
    instagram intel ios iran ireland irish irs irtish isabela isabella isabelle isbn israel iss italian italy ives
    jack jackson jaime jame james jamie jan janie january japan japanese jared jason javier jayson jean jenna
    jenny jerry jersey jew jewish jira john johnson jonas jones jonson jordan joseph jude jules julia julie julio
    july jun june justice justin katherine kathrine kelly kenny kerry keynote king kings kipling knight kong lance
    landon lang lansing lapps larry las latin laurel lauren laurence lawrence lawson lear leeds len leon les
    lester levant libby lilly lin lina lind linux lister lloyd locke lois lon london lord los louie louis lowe
    loyd luis lully lynch mac mach mafia mai maine maj manuel mara marc marcel march marci marco marcy maria
    marian marie marin marina mario marion maris marisa mark marla marlon marne marsh marta martin martina marty
    marvin mary mason massey mather may mayer meany medan medina megan meghan mel merced mercer meta mexico meyer
    meyers mich michael micheal michel michigan mig mike miles miller mills mindy ming minot mit mitch mobil
    mohamed mohammad mohammed moises molly mon monday monet mons mont monte monty moody moon mooney morton moses
    muhammad muller munster musial myles nacional nam nancy nat nate nco ned nixon nobel norma norman north
    northern norton notion nov november noyes numbers oct october oder ods ohio oked oks ola olympics outlook
    pablo pac pacific page pages paolo paris parker parks parliament parrish parsi patton paul paula pauli payne
    pearl penn pennsylvania percy perl peron perry peter pict pierce pierre pinter piper pisces platte poisson
    poland polish polly poole popper porter porto potts pow prague publisher python ramon ray rds reich reilly rem
    rena republican rhine rhone richard ricky rio rios rivera rob robert roberta roberto roberts robin rocky rod
    roger roget roland rolex rolland roman rome romes ron ronald ronnie rose ross rover rowan royal ruby russ
    russia russian rust rusty ryder sabha sade safari salem sally sam sana sandy santa santo sars sasha saturday
    sawyer saxon scot scotland scots scott scottish seder sen senate sep sept september serie severn shane shari
    shawn sheets shelly sheol sian sid sidney sids signal simon singh skype slack slavs snell soave solis solon
    sony sophia sophie south southern soviet spain spanish spears speer spitz spring staci stael stan starr steam
    sterling stern steve stine stol stu sudan sui sumner sunday susan sutton sven swift sydney tass tate taylor
    teams ted tempe temple terr terra terri terry tesla tess tet texas thales thames thea thomas thor thorne
    thursday tim timex timor tina tomas toni tony tories tory townes tracey traci tracy tran treasury trent tucker
    tues tuesday tums turing turkey turks turner tyree tyrone uber union unitas unix ural uss ute val venus vic
    victor victoria vidal viking viktor vila vilma vince viola virginia visa wagner wales walker wall waller walls
    walsh walter walton waring warner warren washington wats watts wayne weaver wednesday wei welles wells welsh
    werner west western white will william williams willie willis wilson windows wis wong wood woods word wright
    xavier yankee yeats yong york young zealand zhang zoom
    """
)
"""In lower case; of people, places, languages, days, months and products."""


# Words of prompts, and the known words that lie one slip away from them or from a frequent word.
#
# All in lower case. :data:`NEAR` holds what dropping, adding, doubling, swapping or replacing a letter, misreading a
# shape, or splitting can make of a word in ``FREQUENT``, ``IMPERATIVES`` or :data:`PROMPT_WORDS`.


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
