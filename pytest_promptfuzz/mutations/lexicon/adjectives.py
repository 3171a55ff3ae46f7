"""Adjectives of prompts and what may stand for them; the module ``synonyms`` says how a line is read."""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

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
