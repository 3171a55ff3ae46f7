"""Known words that are names, or names as well: a capital on them may be there for the name."""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

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
