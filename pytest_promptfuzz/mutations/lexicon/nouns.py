"""Nouns of prompts and what may stand for them; the module ``synonyms`` says how a line is read."""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

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
