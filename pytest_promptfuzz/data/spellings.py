"""Contractions, and British and American spellings of the same words."""

from __future__ import annotations

from pytest_promptfuzz.text.expressions import words

_NEGATED = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
    "can": "can't",
    "could": "couldn't",
    "will": "won't",
    "would": "wouldn't",
    "should": "shouldn't",
    "must": "mustn't",
}
_JOINED = {
    ("i", "am"): "I'm",
    ("you", "are"): "you're",
    ("we", "are"): "we're",
    ("they", "are"): "they're",
    ("it", "is"): "it's",
    ("that", "is"): "that's",
    ("there", "is"): "there's",
    ("what", "is"): "what's",
    ("i", "will"): "I'll",
    ("you", "will"): "you'll",
    ("we", "will"): "we'll",
    ("they", "will"): "they'll",
    ("it", "will"): "it'll",
}

CONTRACTED: dict[tuple[str, str], str] = {
    **{(verb, "not"): short for verb, short in _NEGATED.items()},
    **_JOINED,
}
"""Two words in lower case, and what they become."""

EXPANDED: dict[str, str] = {
    **{short: f"{verb} not" for verb, short in _NEGATED.items()},
    **{short.lower(): " ".join(pair) for pair, short in _JOINED.items()},
    "can't": "cannot",
    "i'm": "I am",
    "i'll": "I will",
    "i've": "I have",
    "you've": "you have",
    "we've": "we have",
    "they've": "they have",
}
"""A contraction in lower case, and what it stands for."""

# Verbs in -ize/-ise, by stem, with all their forms; nouns in -ization follow where there is one.
_IZE = sorted(
    words(
        """
        categor summar organ priorit recogn standard normal optim minim maxim character custom final general
        emphas util capital formal serial initial visual item local personal special synchron token apolog
        random anonym contextual conceptual modern author harmon neutral memor symbol
        """
    )
)
_PLAIN = """
color colour|colors colours|colored coloured|coloring colouring|colorful colourful|colorless colourless
behavior behaviour|behaviors behaviours|behavioral behavioural|favor favour|favors favours|favored favoured
favorite favourite|favorites favourites|favorable favourable|flavor flavour|flavors flavours|honor honour
honors honours|humor humour|labor labour|labors labours|neighbor neighbour|neighbors neighbours
neighborhood neighbourhood|rumor rumour|rumors rumours|endeavor endeavour|harbor harbour|vapor vapour
odor odour|savior saviour|vigor vigour|center centre|centers centres|centered centred|fiber fibre|fibers fibres
theater theatre|theaters theatres|meager meagre|somber sombre|caliber calibre|luster lustre|specter spectre
catalog catalogue|catalogs catalogues|analog analogue|monolog monologue
canceled cancelled|canceling cancelling|traveled travelled|traveling travelling|traveler traveller
travelers travellers|modeled modelled|modeling modelling|signaled signalled|signaling signalling
fueled fuelled|leveled levelled|totaled totalled|totaling totalling
counselor counsellor|jewelry jewellery|marvelous marvellous|fulfill fulfil|fulfills fulfils|enroll enrol
enrollment enrolment|skillful skilful|willful wilful|installment instalment|gray grey|grays greys|grayish greyish
defense defence|offense offence|pretense pretence|judgment judgement|judgments judgements
aging ageing|airplane aeroplane|aluminum aluminium|artifact artefact|artifacts artefacts|mustache moustache
maneuver manoeuvre|pediatric paediatric|orthopedic orthopaedic|anesthesia anaesthesia|leukemia leukaemia
skeptical sceptical|skeptic sceptic|skepticism scepticism|plow plough|pajamas pyjamas|mold mould|molds moulds
analyze analyse|analyzes analyses|analyzed analysed|analyzing analysing|paralyze paralyse|catalyze catalyse
criticize criticise|criticizes criticises|criticized criticised|criticizing criticising
acknowledgment acknowledgement|cozy cosy|sulfur sulphur|encyclopedia encyclopaedia
"""


def _british_american_pairs() -> list[tuple[str, str]]:
    pairs = [
        (a, b) for line in _PLAIN.split("\n") for each in line.split("|") if each for a, b in [each.split()]
    ]
    for stem in _IZE:
        pairs += [
            (f"{stem}iz{end}", f"{stem}is{end}") for end in ("e", "es", "ed", "ing", "er", "ation", "ations")
        ]
    return pairs


AMERICAN_TO_BRITISH: dict[str, str] = dict(_british_american_pairs())
"""Words in lower case."""

VARIANTS: dict[str, str] = {
    **AMERICAN_TO_BRITISH,
    **{british: american for american, british in AMERICAN_TO_BRITISH.items() if british != "analyses"},
}
"""Either spelling, and the other; ``analyses`` is left out, being the plural of ``analysis`` too."""


# Common misspellings of English words, with the inflections they take; our own selection.


# A right and a wrong spelling; after a slash, the endings that both take. No wrong one is a word.
_MISSPELLINGS = """
about abuot|absence absense|accept accpet/ed ing s|acceptable acceptible|accessible accessable|accident accidant/s
accidentally accidently|accommodate accomodate/d s|accommodation accomodation/s|accompany acompany/ing
accordance accordence|according acording/ly|account acount/s|accurate acurate/ly|achieve acheive/d s ment ments
achieving acheiving|acknowledge aknowledge/d s|acquire aquire/d s|across accross|actually actualy
additional aditional/ly|address adress/es ed ing|adequate adaquate/ly|advertisement advertisment/s|agency agancy
aggressive agressive/ly|agreement agreemant/s|allegiance allegience|ambiguous ambigous/ly|amount ammount/s
analysis analisys|analyze analize/d s|analyzing analizing|answer anwser/s ed ing|apparent apparant/ly
appearance appearence/s|application aplication/s|appropriate apropriate/ly|approximate aproximate/ly
argument arguement/s|around arround|arrange arange/d s ment|article artical/s|assess asess/ed ing
assessment assesment/s|assign asign/ed s|assistance assistence|assistant assistent/s|association assosiation/s
attachment attachement/s|attention attension|attitude atitude/s|audience audiance/s|authority authorty
availability availibility|available availible|average avarage/s|awkward akward/ly|balance ballance/d s
basically basicly|beautiful beautifull|because becuase|becoming becomming|beginning begining/s|behavior behavour
behaviour behavoir|believe beleive/d s|beneficial benificial|benefit benifit/s ed|between bewteen|brief breif
briefly breifly|brilliant briliant/ly|budget buget/s|business buisness/es|calculate calcualte/d s
calculation caculation/s|categories catagories|categorize catagorize/d s|category catagory|ceiling cieling/s
certain certian/ly|challenge challange/d s|changeable changable|character charachter/s
characteristic charactaristic/s|choice choise/s|citation citaton/s|classification clasification/s
classified clasified|classifies clasifies|classify clasify/ing|clearly clearely|colleague collegue/s
collection colection/s|column colum|coming comming|comment coment/s|commercial comercial/ly|commission comission/s
commit comit/ted|committee commitee/s|common comon/ly|communicate comunicate/d s|communication comunication/s
company compnay|compare compair/s|comparison comparision/s|compatible compatable|competition compitition/s
completely completly|complicated complecated|comprehensive comprehensve|concise consise/ly|conclusion conclution/s
condition condtion/s|confidence confidance|confirm comfirm/ed s|connection conection/s|conscience concience
conscious concious/ly|consequence consequense/s|consider concider/ed s|consistent consistant/ly|contact contatc/s
contain contian/ed s ing|content contnet/s|context contex|continuous continous/ly|controversial contraversial
convenience convinience|convenient conveniant/ly|conversation converstion/s|correct corect/ed s ly
correction corection/s|correspondence correspondance|could coudl|countries contries|country contry|criteria critera
criticism critisism|critique critque/s|curiosity curiousity|current curent/ly|customer custumer/s
decision desicion/s|definite definate/ly|definition defination/s|deliver delivar/ed s|deliveries delivaries
delivery delivary|demonstrate demonstarte/d s|department departement/s|describe discribe/d s|describing discribing
description discription/s|desirable desireable|desperate desparate/ly|detail detial/s ed|determined determened
development developement/s|difference diffrence/s|different diffrent/ly|difficult dificult|difficulty dificulty
disappear dissapear/ed s|disappoint dissapoint/ed ing ment|discipline disipline|discussion disscussion/s
document documant/s|documentation documantation|domestic domistic|during durring|easily easilly|effect efect/s
effective efective/ly|efficient efficent/ly|eliminate elimanate/d s|embarrass embarass/ed ing
emphasize emphisize/d s|employment employement|encourage encourge/d s|encyclopedia encylopedia|enough enought
enthusiasm enthusiasim|environment enviroment/s|equipment equiptment|equivalent equivelant|error eror/s
especially especialy|essential essensial/ly|estimate estemate/d s|evaluate evalute/d s|evaluation evalution/s
evidence evidance|exaggerate exagerate/d s|example exampel/s|excellent excelent|exception exeption/s
exercise excercise/s|existence existance|expect expct/ed s|expense expence/s|experience experiance/d s
experiment experimant/s|explain explian/ed s ing|explanation explaination/s|expression expresion/s
extract exctract/ed s|extraction extration/s|extremely extremly|familiar familar|fascinating facinating
favorite favorate/s|favourite favourate/s|feature feture/s|feedback feeback|field feild/s|finally finaly
financial finacial/ly|follow folow/ed s|following folowing|foreign foriegn|formal formel/ly|format fromat/s
forward foward/ed|frequent frequant/ly|friend freind/s ly|fulfill fullfil/s|function funtion/s
fundamental fundemental|further furthur|gauge guage/d s|generally generaly|generate genarate/d s
generating genarating|genius genious|give giev|government goverment/s|grammar grammer|grateful greatful
guarantee garantee/d s|guidance guidence|guideline guidline/s|happened happend|harass harrass/ed ment|have ahve
height heighth|helpful helpfull|hierarchy heirarchy|highlight highlite/s|holiday holliday/s|humorous humerous
hypocrisy hipocrisy|identical identicle|identified idenitfied|identify idenitfy/ing|immediately immediatly
importance importence|important importent/ly|improve improove/d s|improvement improvment/s|incident incidant/s
include inculde/d s|including incuding|independent independant/ly|indicator indicater/s|individual indivual/s ly
industry industy|information infomation|informative infomative|initial intial/ly|input imput/s|inquiry inquirey
instance instence/s|instruction instuction/s|insurance insurence|intelligence inteligence|intelligent inteligent
interest intrest/s ed ing|interpret interpet/ed|interrupt interupt/ed s|introduce intoduce/d s
introduction intoduction/s|investigate investagate/d s|invoice invocie/s|irrelevant irrelevent|issue isssue/s
item itme/s|itinerary itinery|jewelry jewelery|journal jounal/s|judgment judgmant/s|justify justfy|keep kepe
keyword keywrod/s|knowledge knowlege|language langauge/s|length lenght/s|lesson leson/s|letter leter/s|level levle/s
liaison liason|libraries libaries|library libary|license lisense/d s|likely likley|limit limmit/s ed|list lsit/s
literature literture|location loaction/s|maintain maintian/ed s ing|maintenance maintainance|management managment
marketing markteing|maximum maximun|meaning meening/s|measure mesure/d s ment ments|medical medicle
medicine medecine/s|medieval medeival|member memeber/s|memorable memmorable|mention mentoin/ed s|message mesage/s
method methed/s|millennium millenium|miniature minature|minimum minimun|mischievous mischevious|missing mising
mistake misteak/s|modern modren|moment momment/s|monitor moniter/ed s|multiple mutliple|natural naturel/ly
necessarily neccessarily|necessary neccessary|negotiate negociate/d s|neighbor nieghbor/s|neighbour nieghbour/s
neutral nuetral|notice notcie/d s|noticeable noticable|number nubmer/s ed|object obejct/s|objective obejctive/s
occasion occassion/s|occasionally occassionally|occur ocur/s|occurred occured|occurrence occurence/s
official offical/ly|operation opertion/s|opinion opinon/s|opportunity oppurtunity|opposite oposite|option opton/s
optional optonal|organization orginization/s|organize orginize/d s|original orignal/ly|output outupt/s
overview overveiw|package pacakge/s|paragraph paragrah/s|parallel paralel|parameter paramater/s|parliament parliment
particular perticular/ly|passage pasage/s|passenger passanger/s|patient pateint/s|pattern patern/s
payment payement/s|people poeple|performance preformance|permanent permanant/ly|permission permision/s
perseverance perseverence|personnel personell|persuade pursuade/d s|phrase phraze/s|physical phisical/ly
picture pictrue/s|piece peice/s|pleasant plesant|please plese|point piont/s|policies polcies|policy polcy
polite pollite/ly|popular populer|possession posession/s|possibility posibility|possible posible|possibly posibly
potential potencial/ly|practical practicle|practice pratice/s|precise presise/ly|prefer perfer/s
preference preferance/s|preferred prefered|prepare prepair/s|presence presance|previous previus/ly|price prcie/s
primary primery|privilege privelege/s|probably probly|problem probelm/s|procedure proceedure/s
process proccess/es ed ing|produce prodcue/d s|product prodcut/s|professional proffesional/ly|professor professer/s
program progam/s|progress progess|project porject/s|prominent promenent|prompt promt/s|pronunciation pronounciation
proper propper/ly|property propery|propose porpose/d s|provide porvide/d s|providing porviding|publicly publically
publish pubish/ed|purchase purchace/d s|purpose purpouse/s|pursue persue/d s|quality qualtiy|quantity quanity
queries qeuries|query qeury|question queston/s|questionnaire questionaire/s|quickly quikly|quotation qoutation/s
quote qoute/d s|rating rateing/s|readable readible|reader raeder/s|really realy|reason raeson/s|reasonable resonable
receipt reciept/s|receive recieve/d s r|receiving recieving|recipe recepie/s|recognize reconize/d s
recommend recomend/ed ing s|recommendation recomendation/s|record reccord/s ed|reference referance/s
referred refered|referring refering|refund refunnd/s|regarding reguarding|regular reguler/ly|rehearsal rehersal
relationship relatonship/s|relevance relevence|relevant relevent|reliable relyable|religious religous
remove remmove/d s|repeat repeet/ed s|repetition repitition/s|replies replys|reply repley|report reprot/s ed
represent represnt/ed s|request reqeust/s ed|require requier/d s|requirement requirment/s|research reserch
resource resourse/s|respond repsond/ed s|response responce/s|responsibility responsability|responsible responsable
restaurant restaraunt/s|result resutl/s|return retrun/ed s|review reveiw/s ed er ers|rewrite rewirte/s
rhythm rythm/s|ridiculous rediculous|schedule schedual/s|science sceince/s|scissors sissors|secretary secratary
section secton/s|security secruity|select selct/ed s|selection selction/s|sense sence/s|sensible sensable
sentence sentance/s|sentiment sentimant/s|separate seperate/d ly s|separating seperating|separator seperator/s
sequence sequnce/s|series serise|serious serius/ly|service servcie/s|several severel|shipment shippment/s
shipping shiping|similar similiar/ly|simple simpel|simply simpley|sincerely sincerly|single singel
situation sitaution/s|software sofware|solution soluton/s|some smoe|something somthing|sometimes sometiems
source soruce/s|speak speek/s|special speical/ly|specific specfic|specifically specificly|specify specifiy
speech speach/es|standard standerd/s|statement statment/s|strategy stratagy|strength strenght/s|strict stirct/ly
structure strucutre/d s|student studnet/s|style stlye/s|subject subjcet/s|succeed succede/s|success sucess/ful fully
successful succesful/ly|such sutch|sufficient suficient/ly|suggest sugest/ed s|suggestion sugestion/s
suitable suitible|summaries sumaries|summarise summerise/d s|summarize summerize/d s|summarizing summerizing
summary sumary|superfluous superflous|supersede supercede/d s|supervisor superviser/s|supplier suppiler/s
support suport/ed s|suppose supose/d s|surprise suprise/d s|surround suround/ed ing|survey servey/s|symptom symtom/s
synonym synonim/s|system sytem/s|table talbe/s|target tagret/s|technical techincal/ly|technique technigue/s
technology tecnology|temperature temperture/s|template templete/s|temporary temperary|tendency tendancy|text tetx/s
that taht|the teh|their thier|therefore therfore|these theese|they tehy|this tihs|thorough thourough/ly|though thogh
thought thougt/s|threshold threshhold/s|ticket tikcet/s|title tilte/s|together togather|tomorrow tommorow
tongue tounge|topic topci/s|tragedy tradgedy|transfer transfere/s|transferred transfered|translate trasnlate/d s
translation trasnlation/s|travel travle/s|truly truely|typical tipical/ly|unclear uncelar|understand understad/s
understanding understading|unfortunately unfortunatly|unique uniqe|university univeristy|unnecessary unneccessary
update updaet/s|urgent urgant/ly|useful usefull|user usre/s|usually usally|vacuum vaccum|valid vaild|value vlaue/s
variable varible/s|variety vareity|various vairous|vegetable vegtable/s|vehicle vehical/s|verify verfiy
version verison/s|vicious visious|visible visable|vocabulary vocabulery|volume volumn/s|warranty warrenty
weather wheather|website webiste/s|welcome wellcome|what waht|when wehn|which wich|whole wholle|with wiht
word wrod/s|wording wordding|would woudl|write wirte/s|writing writting|written writen|yield yeild/s|your yuor
"""


def _spellings() -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in _MISSPELLINGS.strip().replace("\n", "|").split("|"):
        pair, _, endings = entry.partition("/")
        right, wrong = pair.split()
        found[right] = wrong
        for ending in endings.split():
            found[right + ending] = wrong + ending
    return found


MISSPELLINGS: dict[str, str] = _spellings()
"""A word in lower case, and how it is often misspelt."""


# Words that sound alike and are taken for each other, where a reader still knows what an instruction asks.
#
# Not here: what counts (four/for, two/to, one/won), negates (no/know, not/knot), connects (or/oar, whether/weather,
# than/then, except/accept), asks for something (write/right, read/reed, find/fined, cite/site, sum/some) or may well be
# what is asked about (by/buy, sale/sail, patients/patience, minor/miner).


_HOMOPHONES = """
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


def _homophones() -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in _HOMOPHONES.strip().replace("\n", "|").split("|"):
        word, _, other = pair.partition(" ")
        found[word] = other
    return found


HOMOPHONES: dict[str, str] = _homophones()
"""A word in lower case, and what is written in its place."""


# Abbreviations and what they stand for, where any reader knows them.
#
# Left out is what means something else as often: no. (no), min (minutes, after a number), IT, US, sec, temp, acct.


# A word or phrase, then its abbreviation. ">" before it: only to be abbreviated; "<": only to be spelt out.
_ABBREVIATIONS = """
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
    for entry in _ABBREVIATIONS.strip().replace("\n", "|").split("|"):
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


# Which keys lie side by side, on the keyboards of English, French and German.


QWERTY: dict[str, str] = {
    "a": "qwsz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc", "g": "ftyhbv", "h": "gyujnb",
    "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop", "m": "njk", "n": "bhjm", "o": "iklp", "p": "ol",
    "q": "wa", "r": "edft", "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb", "w": "qase", "x": "zsdc",
    "y": "tghu", "z": "asx",
}  # fmt: skip
"""A letter, and the letters around it."""


def _around(*rows: str) -> dict[str, str]:
    """The letters around each letter; a row stands half a key to the right of the one above."""
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else ""
        below = rows[number + 1] if number + 1 < len(rows) else ""
        for place, key in enumerate(row):
            left = max(0, place - 1)
            found[key] = (
                row[left:place]
                + row[place + 1 : place + 2]
                + above[place : place + 2]
                + below[left : place + 1]
            )
    return found


AZERTY: dict[str, str] = _around("azertyuiop", "qsdfghjklm", "wxcvbn")
QWERTZ: dict[str, str] = _around("qwertzuiop", "asdfghjkl", "yxcvbnm")
