"""Frequent English words a typo must not turn another word into (form for from, trail for trial).

Lower-case words of four letters and more: the most frequent ones, and those that lie one substitution or
transposition away from another frequent word.
"""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

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
