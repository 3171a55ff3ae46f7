"""Words of another, nearby sense: near-synonyms, wider words (hypernyms) and narrower ones (hyponyms). English only.

What replaces a word here changes what is asked, a little or more: these tables serve searches for the worst case and
studies, never a default plan. The module ``synonyms`` says how a line is read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.lexicon.synonyms import Entry, read

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.lexicon.lexicon import PartOfSpeech

_NEAR_VERBS = """
acknowledge/c: admit notice; adapt: modify; advise/m: warn; ~aid: support; ~answer/0: discuss
argue/c: claim; ask/m: urge; assess/c: measure; assign: attach; build: assemble; calculate: estimate
capture: record; ~challenge: question; check/c: inspect; choose/c: prefer; cite: mention; clarify: simplify
~comment/p: remark; compare: contrast; complain/p: object; complete: continue; compose: draft
conclude/c: infer; confirm/c: suggest; consider/c: mention; ~contrast: compare; convince/m: encourage
correct: adjust; create: draft; decide/c: guess; define: characterize; delete: hide; demonstrate/c: suggest
describe: explain; determine/c: estimate; develop: extend; discuss: mention; ~display: print
eliminate: reduce; emphasize/c: mention; encourage/m: allow; ~estimate: measure; evaluate: describe
examine: skim; expand: rewrite; explain/c: describe; explore: survey; express: imply; extract: quote
find: look_for; follow: consider; format: structure; generate: suggest; highlight: mention
identify: describe; illustrate: describe; improve: change; include: mention; indicate/c: hint
infer/c: guess; inform/m: remind; interpret: translate; justify: explain; ~list: describe; mention: stress
modify: improve; notice/c: suspect; organize: group; ~outline: describe; praise: thank; predict/c: suggest
prepare: plan; present: mention; prevent: discourage; prioritize: group; propose: mention; prove/c: argue
~quote: paraphrase; read: skim; recommend: mention; reduce: limit; remove: replace; rephrase: shorten
~report: note; resolve: discuss; ~review: skim; revise: check; rewrite: edit; select: suggest
simplify: shorten; solve: discuss; specify: suggest; state/c: suggest; summarize: paraphrase
~support: accept; translate: adapt; treat: regard; update: change; verify/c: assume
"""

_NEAR_NOUNS = """
accuracy/u: precision; action: decision; activity: exercise; advantage: opportunity; advice/u: warning
agent: clerk; ~answer: solution; ~argument: opinion; article: essay; assumption: guess; author: editor
behavior: habit; ~cause: reason; character: person; ~claim: opinion; ~comment: complaint; complaint: remark
concept: theory; conclusion: opinion; condition: reason; context: background; country: region
criterion: preference; customer: visitor; date: deadline; decision: suggestion; definition: description
~detail: example; difference: contrast; document: note; ~doubt: fear; ~draft: sketch; ~effect: purpose
email: letter; error: problem; event: meeting; evidence/u: proof; example: case; explanation: excuse
fact: claim; feature: advantage; ~format: style; goal: wish; group: team; guideline: suggestion
habit: custom; idea: plan; image: photo; information/u: evidence; insight: guess; instruction: suggestion
~issue: topic; language: dialect; letter: memo; location: address; method: tool; name: title; ~need: wish
~note: summary; novel: story; opinion: belief; outcome: benefit; paragraph: sentence; place: country
~plan: wish; problem: question; process: result; product: brand; ~promise: offer; proposal: request
reason: excuse; relationship: similarity; reply: comment; ~report: article; requirement: wish
~response: reaction; ~result: response; risk: cost; role: position; rule: suggestion; scene: story
sentiment: opinion; skill: talent; solution: proposal; ~source: author; story: report; strategy: goal
style: tone; summary: review; theory: guess; tone: style; topic: title; value: price; word: phrase
worker: manager
"""

_NEAR_ADJECTIVES = """
accurate: plausible; aggressive: assertive; angry: disappointed; appropriate: acceptable; basic: simple
brief: simple; calm: quiet; cautious: skeptical; clear: simple; complete: long; complex: long
confident: proud; creative: unusual; critical: careful; curious: eager; detailed: long; direct: short
efficient: fast; empathetic: polite; essential: useful; famous: good; formal: polite; friendly: casual
funny: strange; gentle: soft; happy: satisfied; helpful: kind; honest: direct; important: interesting
informal: friendly; interesting: unusual; logical: clear; long: detailed; main: first; modern: new
natural: simple; necessary: useful; new: recent; objective: critical; original: unusual; patient: calm
polite: formal; popular: good; possible: likely; precise: short; professional: formal; recent: current
relevant: interesting; reliable: popular; serious: formal; short: simple; simple: short; specific: detailed
strict: careful; strong: good; suitable: good; typical: simple; urgent: important; useful: interesting
valid: plausible
"""

_WIDER_VERBS = """
accuse: criticize; alphabetize: sort; analyze: consider; annotate: edit; apologize/xp0: respond
applaud: praise; assess: consider; calculate: determine; caption: describe; categorize: process
cite: mention; clarify: say; classify: process; compare: consider; compile: make; compose: make
compute: determine; condense: change; convert: change; correct: change; count: measure; debug: check
delete: change; describe: mention; diagnose: assess; ~draft: make; edit: change; email: contact
enumerate: give; estimate: determine; evaluate: consider; expand: change; explain: say; ~fix: change
forecast: say; format: change; generate: make; hyphenate: change; improve: change; justify: explain
merge: change; narrate: tell; paraphrase: change; ~phone: contact; proofread: check; quote: mention
~rank: sort; ~rate: judge; refine: change; rephrase: change; rewrite: change; shorten: change
simplify: change; sing: perform; sort: process; summarize: process; tabulate: present; tag: mark
translate: convert; trim: change; underline: mark; verify: consider; visualize: show; whisper: say
write: produce
"""

_WIDER_NOUNS = """
adjective: word; adverb: word; airline: company; anecdote: text; answer: text; apple: fruit; article: text
author: person; bank: company; bicycle: vehicle; biography: book; bird: animal; blog: website
book: publication; bug: problem; bus: vehicle; car: vehicle; cat: animal; chapter: part; chemist: scientist
child: person; city: place; coat: garment; coffee: drink; comma: character; contract: document
country: place; cup: container; customer: person; database: system; dentist: doctor; dictionary: book
doctor: professional; dog: animal; dress: garment; editor: professional; email: message; employee: person
engineer: professional; error: problem; essay: text; euro: currency; flight: journey; flower: plant
fraction: number; gold: metal; guitar: instrument; haiku: poem; hammer: tool; hospital: institution
hotel: business; house: building; integer: number; invoice: document; iron: metal; jacket: garment
journalist: professional; kitchen: room; knife: tool; laptop: device; lawyer: professional; lemon: fruit
letter: document; library: institution; lion: animal; magazine: publication; manager: person
manual: document; memo: document; mother: parent; museum: building; newspaper: publication; noun: word
novel: book; nurse: professional; oak: tree; opera: performance; orange: fruit; painting: artwork
paragraph: text; patient: person; phone: device; physicist: scientist; piano: instrument
pilot: professional; poem: text; poet: writer; potato: vegetable; recipe: text; refund: payment
restaurant: business; review: text; river: body_of_water; rose: flower; salmon: fish; school: institution
sentence: text; shirt: garment; shop: business; smartphone: device; sofa: piece_of_furniture; sonnet: poem
spoon: tool; student: person; summary: text; taxi: vehicle; tea: drink; teacher: professional
tenant: person; thriller: book; train: vehicle; truck: vehicle; tutor: teacher; verb: word; village: place
violin: instrument; whale: animal; wine: drink
"""

_NARROWER_VERBS = """
analyze: dissect; arrange: alphabetize; change/t: shorten; ~comment/p0: joke; compare: rank
contact/m: phone; convert: translate; correct: respell; create: draw; criticize: mock; describe: caption
~display: print; edit: trim; examine: dissect; explain: prove; express: sing; find: look_up; fix: patch
~format: indent; group: pair; identify: name; improve: shorten; include: append; inform/m: email
judge: rate; ~list: number; ~mark: underline; measure: count; modify: abbreviate; notify/m: phone
organize: alphabetize; praise: applaud; process: sort; read: skim; reduce: halve; remove: erase
rewrite: shorten; sort: alphabetize; summarize: abbreviate; walk/p0: limp
"""

_NARROWER_NOUNS = """
account: bank_account; animal: dog; appliance: toaster; artist: painter; artwork: painting; author: poet
beverage: tea; bird: sparrow; book: novel; building: house; business: shop; city: capital
clothing/u: footwear; color: blue; company: start-up; complaint: lawsuit; container: cup; cost: rent
country: island; course: seminar; currency: euro; customer: shopper; device: phone; disease: influenza
doctor: dentist; document: contract; drink: coffee; emotion: anger; employee: engineer; error: typo
event: wedding; expert: physicist; fish: salmon; flower: rose; food/u: bread; fruit: apple
furniture/u: seating; game: chess; garment: coat; illness: flu; industry: tourism; institution: school
instrument: violin; journey: flight; language: dialect; law: by-law; lawyer: prosecutor; list: checklist
machine: printer; material: plastic; meal: breakfast; meeting: interview; message: email; metal: iron
mistake: typo; movie: comedy; music/u: jazz; name: surname; number: integer; office: headquarters
organization: charity; parent: mother; part: chapter; payment: refund; performance: opera; person: child
pet: cat; picture: cartoon; place: village; plant: fern; poem: haiku; problem: bug; professional: nurse
publication: magazine; ~question: riddle; ~reply: email; ~report: audit; request: order; room: kitchen
rule: law; school: university; science/u: physics; scientist: chemist; season: autumn; sentence: question
service: delivery; shop: bakery; software/u: firmware; song: ballad; sport: tennis; story: fable
student: freshman; subject: geometry; summary: abstract; symbol: arrow; symptom: fever; teacher: tutor
text: poem; tree: oak; trip: cruise; user: administrator; vegetable: potato; vehicle: car; weapon: sword
website: blog; word: noun; worker: electrician; writer: poet
"""


def _tables(verbs: str, nouns: str, adjectives: str = "") -> dict[PartOfSpeech, dict[str, Entry]]:
    return {"verb": read(verbs), "noun": read(nouns), "adjective": read(adjectives)}


@cache
def near() -> dict[PartOfSpeech, dict[str, Entry]]:
    """Near-synonyms, by part of speech and headword."""
    return _tables(_NEAR_VERBS, _NEAR_NOUNS, _NEAR_ADJECTIVES)


@cache
def wider() -> dict[PartOfSpeech, dict[str, Entry]]:
    """Hypernyms."""
    return _tables(_WIDER_VERBS, _WIDER_NOUNS)


@cache
def narrower() -> dict[PartOfSpeech, dict[str, Entry]]:
    """Hyponyms."""
    return _tables(_NARROWER_VERBS, _NARROWER_NOUNS)
