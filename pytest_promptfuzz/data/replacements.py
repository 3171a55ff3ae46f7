"""Adjectives of prompts and what may stand for them; the module ``synonyms`` says how a line is read."""

from __future__ import annotations

from pytest_promptfuzz.text.expressions import words

ADJECTIVES = """
absurd: ridiculous; abundant: plentiful; accurate!to: correct
acute!pain,disease,care,angle,angles,accent: severe; additional: further extra; adept: skilled
adequate: sufficient; adverse!selection: harmful; affordable: inexpensive; alarming: worrying
amazing: astonishing; ambiguous: unclear; ample: plentiful
amusing: funny entertaining; ancient/a!greece,rome,egypt,history: old; annoyed/p@with: irritated
annoying: irritating; annual: yearly; anxious: nervous worried; applicable/a!law: relevant
appropriate/p@for: suitable; approximate/a: rough; arduous: difficult
astonishing: amazing; attractive!nuisance: appealing; authentic: genuine; avoidable: preventable
awful: terrible dreadful; beneficial: helpful; bizarre: strange; blatant: obvious; bleak: grim
boring: dull tedious; brief: short; brilliant: outstanding; candid: frank honest
careless: negligent; catchy: memorable; cautious: careful
central!bank,banks,government,limit,tendency: main; challenging: demanding difficult; charming: delightful
cheap: inexpensive; cheerful: happy; chief/a!executive,financial,technical,operating,of: main
clumsy: awkward; cohesive: unified; colloquial: informal; colossal: huge
comparable/p@to: similar; compassionate: caring; compelling: convincing; competent: capable
complicated: complex; comprehensive: thorough; compulsory: mandatory; concise: succinct
conclusive: decisive; concrete!mix,wall,floor,slab: specific; confidential: private; confused: puzzled
confusing: unclear; considerable: substantial; considerate: thoughtful; contentious: controversial
contradictory: inconsistent; convenient: handy; conventional!weapons: traditional; convincing: persuasive
cordial: friendly; ~correct/a!grammar,syntax,spelling,usage: right; costly: expensive; courteous: polite
credible: believable; crucial: vital essential; cruel: harsh; cumbersome: awkward
current/a!account,events,affairs: present; customary: usual; damaging: harmful; dangerous: hazardous
deceptive: misleading; defective: faulty; deliberate: intentional; delicious: tasty
delightful: charming; demanding: challenging; dependable: reliable; desirable: preferable
detailed: in-depth thorough; detrimental/p@to: harmful; devastating: disastrous; difficult: hard
diligent: hard-working; disastrous: catastrophic; dishonest: deceitful; diverse: varied; doubtful: uncertain
drastic: radical; dreadful: terrible awful; dubious: doubtful questionable; dull!pain,ache: boring
durable!goods: long-lasting; eager: keen; earlier/a: previous; easier: simpler; easiest: simplest
easy: simple; eccentric: odd; elderly: older
elementary/a!school,particle,particles,row,matrix,function,functions: basic; eloquent: articulate
empathetic: understanding; empathic: empathetic; engaging: captivating; enormous: huge
entertaining: amusing; entire/a: whole; erroneous: incorrect
essential/p!oil,oils,amino@to,for: vital crucial; everyday/a: ordinary; evident: obvious
exact/a!match,copy,science: precise; exaggerated: overstated; excellent/a: outstanding
exceptional: outstanding; excessive: undue; exciting: thrilling; exhaustive: comprehensive
existing/a: current; expensive: costly; experienced: seasoned; extensive: broad; extra: additional
extraordinary: remarkable; fake: bogus; familiar/q@with: acquainted; famous: well-known
fantastic: wonderful; fascinating: intriguing; fast!food,forward: quick; faster: quicker; fastest: quickest
faultless: flawless; faulty: defective; feasible!region,set,solution: practicable; fictional: imaginary
fictitious: made-up; fitting: suitable; flawed: faulty; flawless: perfect; foolish: silly
forceful: powerful; fortunate: lucky; frank: candid; friendly: warm amicable; frightening: scary
fruitful: productive; fundamental/p!theorem,frequency,rights@to: basic; funny: amusing
further/a: additional; futile: pointless; generic!type,types,drug,drugs,class: general; genuine: real
gigantic: huge enormous; glaring: obvious; gloomy: bleak; grateful/p@for: thankful; grave/a!accent: serious
grim: bleak; handy: useful
hard/a!drive,disk,copy,coded,stop,limit,constraint,deadline,skills,drugs,cash,landing: difficult
harmful: damaging; harmless: innocuous; harsh: severe; hazardous: dangerous
helpful!assistant,answer,agent,bot,chatbot,tutor,tone,and,person: useful; hilarious: extremely_funny
historic/a: momentous; honest: truthful; hostile: unfriendly; huge: enormous; humble: modest
humorous: funny; hypothetical: imagined; ideal!gas,gases,voltage: perfect; illegal: unlawful
illegible: unreadable; illogical: irrational; imaginary!number,numbers,part,unit,axis: fictional
imaginative: inventive; immense: vast; impartial: unbiased; impolite: rude; important: significant
imprecise: inexact; impressive: striking; improved/a: better; inaccurate: incorrect
inadequate: insufficient; inappropriate/p@for: unsuitable; incoherent: disjointed; incorrect: wrong
incredible: unbelievable; indispensable/p@to,for: essential; inevitable: unavoidable
inexpensive: cheap affordable; infamous: notorious; informal: casual
initial/a!value,values,condition,conditions,state,letter: first; innovative: novel; inquisitive: curious
insightful: perceptive; instant/a!messaging,noodles,coffee: immediate; insufficient: inadequate
intact: undamaged; intelligent!design: clever; intelligible: comprehensible
intense: strong; intentional: deliberate; interesting: intriguing; intricate: complex
intriguing: fascinating; intrusive: invasive; invaluable: priceless; irrational!number,numbers: illogical
irrelevant: unrelated; irritated: annoyed; irritating: annoying
knowledgeable: well-informed; large/a!language,intestine,scale,cap,print,model,models: big; larger: bigger
largest: biggest; lasting/a: enduring; laudable: praiseworthy; lavish: extravagant; lawful: legal
legible: readable; legitimate: valid; lengthy: long; lethal: deadly; lively: energetic; lovely: delightful
lucid: clear; lucky: fortunate; lucrative: profitable; luxurious: lavish; main/a: principal primary
mandatory: compulsory; marvelous: wonderful; massive: huge; matching/a: corresponding
meaningless: pointless; memorable: unforgettable; messy: untidy; meticulous: painstaking
minor/a!key,scale,chord,planet,league,child: small; misleading: deceptive; mistaken: wrong
modern/a!art,family,era: contemporary; monotonous: repetitive; motivational: inspiring
multiple/a!choice,regression,sclerosis,inheritance,listing,of: several; mysterious: puzzling
nasty: unpleasant; naughty: mischievous; necessary: required; needless: unnecessary; negligent: careless
negligible: insignificant; nervous!system,breakdown: anxious
notable: noteworthy; noteworthy: notable; noticeable: visible; notorious: infamous; numerous/a: many
~objective/a!function,functions,lens: impartial; obligatory: compulsory mandatory; obsolete: outdated
obvious: evident; occasional/a: infrequent; ongoing/a: continuing; opposing/a: opposite; optimistic: hopeful
ordinary!differential,shares,share,least: normal
outdated: obsolete; outstanding/a!balance,debt,debts,payment,invoice,invoices,shares,issue,issues: excellent
painstaking: meticulous; particular/a!solution: specific; passionate: enthusiastic
peculiar: strange; perceptive: insightful; perilous: dangerous; permissible: allowed
perplexing: puzzling; persuasive!essay: convincing; pertinent/p@to: relevant; pessimistic: gloomy
plausible: believable; pleasant: agreeable; pleased/p@with: happy; plentiful: abundant; pointless: futile
polite: courteous; potential/a!energy,difference: possible; praiseworthy: commendable
precious/a!metal,metals,stone,stones: valuable; precise: exact; predictable: foreseeable; preferable: better
preliminary: initial; ~present/a!tense,value,perfect,participle,continuous,simple,day: current
primary/a!key,keys,school,care,color,colors,election,elections,source,sources,education: main
principal/a!component,components,amount,investigator: main
prior/a!distribution,art,probability,knowledge: earlier; problematic: troublesome; productive: fruitful
proficient/q@in: skilled; profitable: lucrative; profound: deep; prominent: notable
proper/a!noun,nouns,name,names,fraction,subset: correct; proposed/a: suggested; prudent: wise
puzzled: confused; puzzling: perplexing; questionable: dubious; quicker: faster; quickest: fastest
radical/a!sign,expression,expressions: drastic; rapid/a: quick fast
rare/a!earth,disease,diseases,steak: uncommon
rational!number,numbers,function,functions,expression,choice: logical; realistic: lifelike
reasonable: sensible; recommended/a!dose: suggested; redundant: superfluous; relevant/p@to: pertinent
reliable: dependable; reluctant: unwilling; remarkable: extraordinary; repetitive!strain: monotonous
required/a: necessary; requisite/a: required; respectful: courteous
rewarding: satisfying; ridiculous: absurd; rigid!body,bodies: inflexible; risky: hazardous
rude: impolite; sad: unhappy; satisfactory: acceptable
satisfying: pleasing; scary: frightening; seasoned: experienced; sensible: reasonable; serene: calm
serious: grave; severe!weather,asthma: serious
short!story,stories,circuit,selling,position,term,answer,form,message: brief; shorter: briefer
significant!figure,figures,digit,digits,effect,difference,differences,results,result,correlation,other: important
silly: foolish; similar/p!triangle,triangles@to: comparable
simple!harmonic,random,interest,past,present,regression,sentence,sentences,present,linear: straightforward
simplistic: oversimplified; sincere: genuine; skeptical: doubtful; skilled: proficient; skillful: skilled
slight: small; smart!phone,contract,contracts,home,card,tv,quotes: clever; sophisticated: advanced
spacious: roomy; splendid: magnificent; spontaneous: unplanned; startling: surprising
straightforward: simple; strange: odd; striking: impressive; stringent: strict; stubborn: obstinate
stylish: elegant; subsequent/a: later; substantial: considerable; succinct: concise
sudden: abrupt; sufficient!condition: adequate; suggested/a: recommended; suitable/p@for: appropriate
superb: excellent; superfluous: redundant; surprising: unexpected
swift/a!code,function,program,class: quick; sympathetic!nervous: compassionate
tangible/a!asset,assets: concrete; tasty: delicious; tedious: boring
temporary/a!table,file,files,tables,variable: short-term; terrible: dreadful; terrific: excellent
terrifying: frightening; thankful/p@for: grateful; thorough: comprehensive; thoughtful: considerate
thoughtless: inconsiderate; thrilling: exciting; tidy!data: neat; timely: prompt
tiresome: tedious; total/a!eclipse,derivative,order,number: overall; traditional: conventional
tragic/a!hero,heroes: sad; tranquil: peaceful; tricky: difficult; trivial!solution,case,group: unimportant
troublesome: problematic; trustworthy: reliable; truthful: honest; typical: usual; ultimate/a: final
unacceptable: intolerable; unambiguous: clear; unavoidable: inevitable; unbelievable: incredible
unbiased: impartial; unchanged/q: unaltered; uncommon: rare; unconvincing: implausible
understandable: comprehensible; undesirable: unwanted; undue/a: excessive
unethical: immoral; unexpected: surprising; unfair: unjust; unfamiliar/q@with: unacquainted
unforeseen: unexpected; unforgettable: memorable; unfriendly: hostile; unhappy/p@with: dissatisfied
unhelpful: useless; unintentional: accidental; unkind: cruel; unlawful: illegal; unlikely/p@to: improbable
unnecessary: needless; unpleasant: disagreeable; unreadable: illegible
unrelated/p@to: unconnected; unreliable: undependable; unsafe!code,block: dangerous
unsuitable/p@for: inappropriate; unsure: uncertain; untidy: messy; untrue: false; unusual: uncommon
unwanted: undesirable; unwilling: reluctant; upcoming/a: forthcoming; useful: helpful; useless: worthless
usual: typical; vague: unclear; varied: diverse; various/a: several; vast: immense
verbose!mode,output: wordy; vibrant: lively; vital/p!signs,sign,statistics@to,for: essential crucial
vivid: striking; wary: cautious; wealthy: rich
weird: strange; whole/a!number,numbers,grain,wheat,milk,note: entire; wicked: evil; widespread: common
wise: sensible; witty: clever; wonderful: marvelous; wordy: verbose; worried: concerned; worrying: alarming
worthless: useless; worthwhile: valuable; wrong: incorrect; yearly/a: annual
"""

OTHERS = words(
    """
    final new old good bad best better worst first second third last next previous own same right left high low long
    full open closed key top big little young real true false free public private local global national social legal
    medical technical professional personal academic scientific financial commercial economic political cultural
    historical natural human physical digital visual verbal written oral formal informal neutral positive negative
    mixed internal external single double multiple specific general particular special relevant recent past future
    current possible available happy angry strong weak strategic logical critical practical actual active passive
    complete correct incorrect valid invalid missing empty related separate individual short clear open-ended clever
    factual emotional direct indirect major minor overall original total average typical great warm unresolved
    structured plain raw standalone one-sentence underlying sound upcoming hidden known unknown likely unlikely
    """
)
"""More adjectives that stand between a determiner and a noun; they have no entry."""


# Adverbs of prompts and what may stand for them; the module ``synonyms`` says how a line is read.


ADVERBS = """
abruptly: suddenly; absolutely/d: completely; accidentally: inadvertently; accordingly/s: therefore
accurately: correctly; additionally/s: furthermore moreover; adequately: sufficiently; afterwards/0: later
almost/d: nearly; amply: sufficiently; angrily: furiously; annually: yearly; anxiously: nervously
apparently: seemingly; appropriately: suitably; approximately/d: roughly; arbitrarily: randomly
awkwardly: clumsily; beautifully: gracefully; blatantly: obviously; bluntly: frankly; boldly: daringly
bravely: courageously; briefly: concisely; candidly: frankly; carefully: attentively
carelessly: negligently; cautiously: carefully; chiefly: mainly; clearly: plainly; clumsily: awkwardly
coherently: logically; commonly: frequently; completely: entirely fully; comprehensively: thoroughly
concisely: briefly succinctly; conclusively: decisively; consecutively/0: in_succession
consequently/s: therefore; considerably/d: substantially; constantly: continually; continually: constantly
conveniently: handily; convincingly: persuasively; correctly: accurately; courageously: bravely
courteously: politely; creatively: imaginatively; crucially/s: importantly; cruelly: harshly
currently: presently; customarily: usually; daringly: boldly; decisively: conclusively; deeply/d: profoundly
deliberately: intentionally; diligently: conscientiously; dishonestly: deceitfully; drastically: radically
eagerly: keenly; easily: readily; effortlessly: easily; elegantly: gracefully; eloquently: articulately
emphatically: forcefully; endlessly: ceaselessly; energetically: vigorously; enormously/d: hugely
enthusiastically: eagerly; entirely: completely fully; equitably: fairly; erroneously: mistakenly
especially: particularly; essentially/d: basically; evenly: uniformly; evidently: clearly
exceedingly/d: extremely; exceptionally/d: unusually; excessively/d: unduly; exhaustively: comprehensively
expertly: skillfully; explicitly: expressly; expressly: explicitly; extensively: widely
extraordinarily/d: exceptionally; extremely/d: exceedingly; fairly/d: reasonably; faithfully: accurately
foolishly: stupidly; forcefully: powerfully; formerly: previously; frankly: candidly
frequently: often; fully: completely entirely; fundamentally/d: basically
furthermore/s: additionally moreover; generally: usually; generously: liberally; genuinely: sincerely
gladly: happily; gradually: little_by_little; greatly: considerably; habitually: regularly; happily: gladly
harshly: severely; hastily: hurriedly; hence/s: therefore; highly/d!likely: very; honestly: truthfully
hugely/d: enormously; hurriedly: hastily; identically: in_the_same_way; illegally: unlawfully
imaginatively: creatively; immensely/d: hugely; impolitely: rudely; importantly/s: significantly
improperly: inappropriately; inaccurately: incorrectly; inadequately: insufficiently
inadvertently: unintentionally; inappropriately: unsuitably; incorrectly: wrongly
incredibly/d: unbelievably; individually/0: one_by_one separately; inevitably: unavoidably
infrequently: rarely; initially: at_first; insistently: persistently; insufficiently: inadequately
intensely: strongly; intentionally: deliberately; keenly: eagerly
largely/d: mostly; lately: recently; lavishly: extravagantly; lawfully: legally; liberally: generously
likewise/s: similarly; lucidly: clearly; mainly: primarily; manually/0: by_hand
markedly/d: noticeably; meanwhile/s: in_the_meantime; methodically: systematically
meticulously: painstakingly; mistakenly: erroneously; moderately/d: reasonably
moreover/s: furthermore additionally; mostly: mainly; mutually/d: reciprocally; namely: specifically
nearly/d: almost; neatly: tidily; needlessly: unnecessarily; negligently: carelessly; nervously: anxiously
nevertheless/s: nonetheless; nonetheless/s: nevertheless; normally!distributed: usually
noticeably: markedly; nowadays: these_days; objectively: impartially; obviously: clearly
occasionally: sometimes; oddly/d: strangely; often: frequently; originally: initially
overly/d: excessively; painstakingly: meticulously; partially: partly; particularly: especially
partly: partially; passionately: fervently; peculiarly/d: strangely
persuasively: convincingly; plainly: clearly
politely: courteously; poorly: badly; predominantly: mainly; preferably: ideally; presently: currently
presumably: probably; primarily: mainly chiefly; principally: mainly; profoundly/d: deeply
promptly: quickly; properly: correctly; proportionally: in_proportion; punctually/0: on_time
purely/d: entirely; purposely: deliberately; quickly: rapidly; quietly: silently; randomly: at_random
rapidly: quickly; rarely: seldom; rationally: logically; readily: easily; reasonably/d: fairly
recently: lately; reciprocally: mutually; recklessly: rashly; redundantly: superfluously
regrettably/s: unfortunately; relatively/d: comparatively; reliably: dependably; reluctantly: unwillingly
remarkably/d: extraordinarily; respectfully: courteously
roughly/d: approximately; routinely: regularly; rudely: impolitely; sarcastically: mockingly
scarcely/d: hardly; secretly/0: in_secret; seemingly: apparently; seldom: rarely; sensibly: reasonably
separately: individually; severely: seriously; shortly/0: soon
significantly/d: considerably; silently: quietly; similarly/s: likewise; simultaneously/0: at_the_same_time
sincerely: genuinely; skillfully: expertly; sloppily: carelessly; sometimes: occasionally
specially: specifically; speedily: quickly
strangely/d: oddly; strikingly/d: remarkably; subsequently: afterwards
substantially/d: considerably; succinctly: concisely; suddenly: abruptly; sufficiently: adequately
suitably: appropriately; supposedly: allegedly; surprisingly/d: unexpectedly; swiftly: quickly
systematically: methodically; tactfully: diplomatically; temporarily/0: for_a_while; terribly/d: dreadfully
therefore/s: thus consequently; thoroughly: carefully; thoughtfully: considerately; thus/s: therefore
tidily: neatly; totally/d: completely; truly/d: genuinely; truthfully: honestly; typically: usually
unavoidably: inevitably; undoubtedly: certainly; unduly/d: excessively; unexpectedly: surprisingly
unfairly: unjustly; unfortunately/s: regrettably; uniformly: evenly; unintentionally: accidentally
unjustly: unfairly; unknowingly: unwittingly; unlawfully: illegally; unnecessarily: needlessly
unquestionably: undoubtedly; unusually/d: exceptionally; unwillingly: reluctantly; usually: typically
utterly/d: completely; vaguely: imprecisely; vastly/d: enormously; verbatim/0: word_for_word
very/d!first,same,best,last,own,least,next,much,few,little,end,beginning: extremely
vigorously: energetically; virtually/d: almost; visibly: noticeably; wholly/d: entirely; widely: broadly
willingly: gladly; wisely: sensibly; wonderfully: marvelously; wrongly: incorrectly
"""


# Nouns of prompts and what may stand for them; the module ``synonyms`` says how a line is read.


NOUNS = """
ability!score: capability; abundance@of: wealth; accomplishment = achievement; accusation = allegation
adage: saying; adjustment: modification; adversary = opponent; ~aim: goal purpose
alteration: change modification; ~alternative: option; anecdote: story; annotation: note
~answer!key,sheet: response; applicant: candidate; ~approach: method; aspect: facet
assertion: claim statement; assessment: evaluation; assignment!to: task; assistance/u: help
assortment: selection; ~attempt: try; attendee: participant; attorney = lawyer; author: writer
baggage/u = luggage/u; barrier: obstacle; beginner: novice newcomer; beginning: start; ~benefit: advantage
blunder: mistake; brochure: leaflet; buyer: purchaser; bystander: onlooker; calculation = computation
capability: ability; characteristic: feature trait; chatbot: bot; choice: selection
clue = ~hint; colleague: coworker; ~comment: remark; company: firm; competitor: rival
comprehension/u: understanding; concept: idea; ~concern!for: worry; consequence: result effect
constraint!key,unique: restriction limitation; ~contest: competition; contradiction: inconsistency
controversy: dispute; conversation: dialogue; coworker: colleague; ~critique: review; customer: client
danger: hazard; deadline: due_date; ~decrease: reduction; defect: flaw fault; deficiency: shortcoming
depiction: portrayal; ~desire: wish; dialogue: conversation; directive: instruction
disadvantage: drawback downside; discrepancy: inconsistency mismatch; distinction: difference
doctor = physician; downside: drawback disadvantage; drawback: disadvantage downside; duration: length
emotion: feeling; employee: staff_member worker; enhancement: improvement
enterprise: company business; era: period; evaluation: assessment; excerpt: extract passage
expenditure/u: spending; expense: cost; expert: specialist; ~extract: excerpt passage; facet: aspect
fault@in,with: flaw; fee: charge; feeling!that,of,like: emotion; finding/p: result; ~firm: company
flaw: defect fault; ~forecast: prediction; fragment: piece; goal: aim objective; gratitude/u: thankfulness
grievance: complaint; ~guarantee: assurance; guidance/u: advice; handbook: manual guide; ~harm/u: damage
hazard: danger; hurdle: obstacle barrier; illness: sickness; ~impact: effect; impediment: obstacle
implication: consequence; importance/u: significance; improvement: enhancement; inaccuracy: error
inconsistency: discrepancy contradiction; ~increase: rise; indication: sign; ~individual: person
inhabitant: resident; instructor: teacher
intent: intention; intention: intent; ~issue!of: problem; itinerary: travel_plan; journey: trip
justification: rationale; kind@of: type sort; ~lack@of: absence; leaflet: brochure; learner: student
manner: way; ~manual: handbook guide; medication: medicine; misconception: misunderstanding
mishap: accident; mistake: error; misunderstanding: misconception; mixture: mix blend
modification: change alteration; motive: reason; ~narrative: story; nation: country; necessity: need
newcomer: beginner; norm: standard; notion: idea; nuance: subtlety; ~objective: goal aim; obligation: duty
obstacle: barrier hurdle; occupation: job profession; occurrence: instance; onlooker: bystander
opinion: view; opportunity: chance; option: choice alternative; outcome: result
outset: beginning start; overview: summary; parcel: package; passage: excerpt extract
perspective: viewpoint point_of_view; phase: stage; photograph: photo; phrasing/u: wording; pitfall: trap
portion: part; portrayal: depiction; position@on: stance; predicament: difficult_situation
procedure: process; profession: occupation; proportion@of: share; protagonist: main_character
pupil: student; purchaser: buyer; purpose: aim goal; quantity@of: amount
quotation: quote; rationale: reasoning justification; reasoning/u: thought_process
recommendation: suggestion; reduction: decrease; regulation: rule; remainder@of: rest; ~remark: comment
~reply: response answer; resemblance: similarity; residence: home; resident: inhabitant
~response!time,code: answer reply; restriction: limitation constraint; rival: competitor; scarcity: shortage
scenario: situation; ~schedule: timetable; section: part; selection: choice; shortage: scarcity
shortcoming: weakness flaw; sickness: illness; snippet: fragment; ~sort@of: kind type; specialist: expert
spectator: viewer; ~stage@of,in: phase; stance: position; standpoint: viewpoint perspective
~start@of: beginning; storyline: plot; ~substitute: replacement; subtlety: nuance
suggestion: recommendation; summary: synopsis overview; supplier: vendor; surplus: excess; synopsis: summary
task/s: job; teacher: instructor; technique: method; timetable: schedule; topic: subject
trait: characteristic; ~trip: journey; ~type@of: kind sort; variant: version; variety@of: range
vendor: supplier; viewpoint: perspective point_of_view; violation: breach
weakness: shortcoming; website: site; wording/u: phrasing; wrongdoing/u: misconduct
"""

UNCOUNTED = words(
    """
    advice baggage clothing content damage data directions equipment evidence feedback food furniture help
    information knowledge luggage misconduct money music phrasing readership reasoning significance software
    spending stock thankfulness traffic understanding vocabulary weather wording work
    """
)
"""Nouns that have no plural and take no ``a``."""

IRREGULAR_PLURALS = {
    "person": "people",
    "analysis": "analyses",
    "criterion": "criteria",
    "child": "children",
    "knife": "knives",
    "man": "men",
    "woman": "women",
}
"""Plurals off the rules."""


# Verbs of instructions and what may stand for them; the module ``synonyms`` says how a line is read.


VERBS = """
abbreviate: shorten; accelerate: speed_up; accentuate: emphasize; accomplish = achieve; acquire: obtain
adhere/xp@to: stick keep; alter: modify change; ameliorate: improve; amend: revise; analyze: examine
appraise: evaluate assess; ascertain/c: determine establish; assess/c: evaluate; assist/m!to: help
assume/xc: suppose; attain: achieve; ~attempt/xi: try; authorize: approve; avert: prevent
avoid: refrain_from; begin/ep@with,by: start; bolster: strengthen; breach: violate; broaden: widen
calculate = compute; categorize: classify; cease: stop; ~change/tb: alter modify; characterize: describe
check/xc!box,in,into,off,out,over: verify; choose/c!to: select pick*; classify: categorize
collect: gather; combine: merge
commence/p0: start begin; commend: praise; communicate: convey; compel/m: force; ~compliment: praise
compose!music,song,symphony: write; comprehend/0: understand; comprise: consist_of; conceal: hide
condense: shorten; ~conduct!orchestra,electricity,heat: carry_out; confirm/xc: verify; conform/xp@to: adhere
consolidate: combine merge; constrain: restrict limit; construct: build create; contain: include
contravene: violate breach; converse/xp@with: talk chat; convey: communicate; convince/m: persuade
~correct: fix; corroborate/c: confirm; ~craft: create; create!it,that: make; ~critique: evaluate
customize: tailor; decide/c!on: determine; decipher: decode; decompose!matrix,number: break_down
~decrease: reduce; deduce/c = infer/c; deem: consider; delete: remove; delineate: outline
demonstrate/c: show; denote: represent; depict: portray; detect/c: identify; deter: discourage
determine/cb!by: work_out establish; deviate/xp@from: depart stray; devise: create
differentiate/xp@between: distinguish; diminish: reduce; disclose/c: reveal; discuss/c: talk_about
~dispatch: send; ~display: show; disprove: refute; disregard/c = ignore/c; disseminate: spread
distill: condense; distinguish/p@between: differentiate; divulge/c: reveal disclose; ~draft: write
elaborate/xp@on: expand; eliminate: remove; elucidate: clarify explain; emphasize/c: stress; employ/tb: use
encompass: cover include; ~encounter: come_across; endanger = jeopardize; ~endeavor/xi: try strive
enhance = improve; enquire/xcp@about: ask; ensure/xc: make_sure; entail: involve; enumerate: list
envision: imagine; erase: delete; establish/xc: determine; evade: dodge
evaluate/c!expression,expressions,integral,function,limit,formula,polynomial: assess; exaggerate = overstate
examine!patient,patients: analyze; exceed: surpass; exclude: leave_out; execute: carry_out
exemplify: illustrate; ~exhibit: show display; expand/xp@on: elaborate; expedite: speed_up accelerate
extract: pull_out; fabricate: make_up invent; fetch: retrieve; finalize: complete; ~finish: complete
~fix!date,price: correct; ~flag: mark
follow/tb!link,path,road,person,account,up,by,user,what,how,why,argument: adhere_to stick_to
forbid = prohibit
~forecast/c: predict; formulate: come_up_with; foster: encourage promote
fulfill/e!order,orders: satisfy meet; gather: collect; generate: produce create
give/db!weight,priority,way,rise,birth,thought,attention,credit,up,in,try,damn: provide; glean: gather
~grasp: understand; ~guarantee/xc: ensure; ~halt: stop; hamper = hinder = impede; ~handle: deal_with
heed: obey; hide: conceal; highlight/xc: emphasize
identify/b!language,sentiment,tone,type,kind,person,speaker,author,as,yourself: pinpoint
illustrate/c!book,story: demonstrate; imitate = mimic; impart: convey; imply/c: suggest
incorporate: include; indicate/xcb: state; inform/me!decision: tell; infringe: violate breach
initiate: start begin; inquire/xcp@about: ask; insert: add; inspect: examine; instruct/me: tell
integrate!function,expression,equation: incorporate; invent: make_up; investigate/c: look_into
itemize: list; ~judge/xc: decide; justify/b!text,margins,right,left: give_reasons_for; lengthen: extend
lessen: reduce; ~leverage/b: use; ~limit/m: restrict; locate: find
maintain/b!code,system,software,database,project,site,website,server: keep; ~mandate: require
manufacture: make produce; ~mention/b: refer_to; merge!branch,branches,request: combine; ~mirror: reflect
misinterpret: misunderstand; mislead/e: deceive; misread: misinterpret; misrepresent: distort
mitigate: reduce lessen; modify: alter change; narrate: recount; necessitate: require; ~need/t: require
notify/m: inform; nullify: invalidate; obey: follow; obstruct: block; obtain: get* acquire
omit: leave_out exclude; organize!event,party,meeting,trip: arrange; ~outline: set_out; ~output/b: produce
overlook/b: miss; oversee = supervise; ~paraphrase: reword rephrase; participate/xp@in: take_part
perform!song,play,music,concert,surgery: carry_out; ~permit: allow; persuade/m: convince
pertain/xp@to: relate; pinpoint: identify; ~polish!shoes,silver,nails: refine improve; ponder: consider
portray: depict; possess/e: have; postpone: put_off; preclude: rule_out
preserve: keep retain; presume/xc: assume; proceed/xp0@with,to: continue; procure: obtain
produce!oil,film: create; prolong: extend; propose/c!to,marriage: suggest; provide/d!with: give
~purchase: buy; rearrange: reorder; rebut: refute; ~recap: summarize; recollect: recall
recommend/b: suggest; reconsider: rethink; rectify: correct; reexamine: recheck; refine: improve
reflect: mirror; reformulate: rephrase; refute: disprove; reinforce: strengthen; reiterate/c: repeat
~relay: pass_on; relocate: move; rely/xp@on: depend; ~remedy: fix; remember/xcb: keep_in_mind bear_in_mind
reorder: rearrange; reorganize = restructure; ~repair: fix; rephrase: reword; replicate: reproduce
~reply/xp0@with,in,to: respond; ~request: ask_for; require/v: need; reside/xp@in,at: live
resolve/b: sort_out; respond/xp0: reply; restrict/m: limit; retain: keep preserve; rethink: reconsider
retrieve: fetch; reveal/c: disclose; ~review/b: examine go_over; revise: edit; reword: rephrase
rework: revise; ~safeguard: protect; satisfy/e!equation,equations,inequality,system: meet fulfill
scrutinize: inspect; select: choose; shorten: condense; ~showcase: show; shun: avoid; signify/c: indicate
skip/b!to: omit leave_out; solicit: ask_for; solve/b!equation,equations,inequality,system,for: work_out
~sort!out,through: arrange; specify/c: state; ~split: divide; ~spot: find; ~start/exp@with,by: begin
~state/xc: say; stipulate/c: specify; streamline: simplify; strengthen: reinforce; ~stress/c: emphasize
strive/xi: try; ~structure: organize; ~study: examine; subdivide: split; suggest/b!to: propose
summarize: sum_up; supersede: replace; ~supply/d!with: provide; suppose/xc: assume; surmise/c: guess
surpass: exceed; ~tackle: deal_with; ~tailor: adapt; terminate: end; transform!matrix: convert
transmit: send; ~try/xi: attempt; uncover: find discover; underscore/c: emphasize stress
understand/0: comprehend; undertake: carry_out; unearth: uncover; unveil: reveal; uphold: maintain
use/tb!caution,care,judgment,tool,up: employ; utilize: use; validate/c: verify check
verify/c: check confirm; violate: breach; withhold: hold_back; ~yield/b: produce
"""

IRREGULAR: dict[str, tuple[str, str, str]] = {
    "bear": ("bears", "bearing", "borne"),
    "become": ("becomes", "becoming", "become"),
    "begin": ("begins", "beginning", "begun"),
    "break": ("breaks", "breaking", "broken"),
    "build": ("builds", "building", "built"),
    "buy": ("buys", "buying", "bought"),
    "chat": ("chats", "chatting", "chatted"),
    "choose": ("chooses", "choosing", "chosen"),
    "come": ("comes", "coming", "come"),
    "compel": ("compels", "compelling", "compelled"),
    "cut": ("cuts", "cutting", "cut"),
    "deal": ("deals", "dealing", "dealt"),
    "deter": ("deters", "deterring", "deterred"),
    "distill": ("distills", "distilling", "distilled"),
    "do": ("does", "doing", "done"),
    "draw": ("draws", "drawing", "drawn"),
    "find": ("finds", "finding", "found"),
    "flag": ("flags", "flagging", "flagged"),
    "forbid": ("forbids", "forbidding", "forbidden"),
    "forecast": ("forecasts", "forecasting", "forecast"),
    "get": ("gets", "getting", "obtained"),
    "give": ("gives", "giving", "given"),
    "go": ("goes", "going", "gone"),
    "have": ("has", "having", "had"),
    "hide": ("hides", "hiding", "hidden"),
    "hold": ("holds", "holding", "held"),
    "infer": ("infers", "inferring", "inferred"),
    "keep": ("keeps", "keeping", "kept"),
    "leave": ("leaves", "leaving", "left"),
    "make": ("makes", "making", "made"),
    "meet": ("meets", "meeting", "met"),
    "mislead": ("misleads", "misleading", "misled"),
    "misread": ("misreads", "misreading", "misread"),
    "misunderstand": ("misunderstands", "misunderstanding", "misunderstood"),
    "offset": ("offsets", "offsetting", "offset"),
    "omit": ("omits", "omitting", "omitted"),
    "output": ("outputs", "outputting", "output"),
    "oversee": ("oversees", "overseeing", "overseen"),
    "permit": ("permits", "permitting", "permitted"),
    "plan": ("plans", "planning", "planned"),
    "prefer": ("prefers", "preferring", "preferred"),
    "put": ("puts", "putting", "put"),
    "read": ("reads", "reading", "read"),
    "rebut": ("rebuts", "rebutting", "rebutted"),
    "recap": ("recaps", "recapping", "recapped"),
    "refer": ("refers", "referring", "referred"),
    "refrain": ("refrains", "refraining", "refrained"),
    "rethink": ("rethinks", "rethinking", "rethought"),
    "run": ("runs", "running", "run"),
    "say": ("says", "saying", "said"),
    "send": ("sends", "sending", "sent"),
    "set": ("sets", "setting", "set"),
    "show": ("shows", "showing", "shown"),
    "shun": ("shuns", "shunning", "shunned"),
    "sing": ("sings", "singing", "sung"),
    "skim": ("skims", "skimming", "skimmed"),
    "skip": ("skips", "skipping", "skipped"),
    "speak": ("speaks", "speaking", "spoken"),
    "speed": ("speeds", "speeding", "sped"),
    "split": ("splits", "splitting", "split"),
    "spot": ("spots", "spotting", "spotted"),
    "spread": ("spreads", "spreading", "spread"),
    "steal": ("steals", "stealing", "stolen"),
    "stick": ("sticks", "sticking", "stuck"),
    "stop": ("stops", "stopping", "stopped"),
    "strive": ("strives", "striving", "striven"),
    "sum": ("sums", "summing", "summed"),
    "tag": ("tags", "tagging", "tagged"),
    "take": ("takes", "taking", "taken"),
    "tell": ("tells", "telling", "told"),
    "think": ("thinks", "thinking", "thought"),
    "throw": ("throws", "throwing", "thrown"),
    "trim": ("trims", "trimming", "trimmed"),
    "understand": ("understands", "understanding", "understood"),
    "undertake": ("undertakes", "undertaking", "undertaken"),
    "uphold": ("upholds", "upholding", "upheld"),
    "withhold": ("withholds", "withholding", "withheld"),
    "write": ("writes", "writing", "written"),
}
"""Verbs off the rules: third person, gerund and participle."""
