"""Forms of words that no rule of endings gives: irregular verbs, nouns of what verbs do, words that end like a form."""

from __future__ import annotations

_IRREGULAR = """
    rose:rise risen:rise fell:fall fallen:fall grew:grow grown:grow bought:buy sold:sell sent:send paid:pay
    began:begin begun:begin chose:choose chosen:choose gave:give given:give took:take taken:take told:tell
    went:go lost:lose won:win met:meet made:make spent:spend came:come saw:see seen:see said:say wrote:write
    written:write broke:break broken:break held:hold kept:keep built:build found:find got:get men:man
    women:woman children:child people:person wives:wife denied:deny denies:deny denial:deny approval:approve
    growth:grow colour:color colours:color centre:center withdrew:withdraw stole:steal
    stolen:steal froze:freeze frozen:freeze drove:drive driven:drive shown:show ate:eat eaten:eat spoke:speak
    spoken:speak hid:hide hidden:hide bit:bite bitten:bite beaten:beat caught:catch brought:bring fought:fight
    sought:seek struck:strike understood:understand drew:draw drawn:draw threw:throw thrown:throw knew:know
    flew:fly flown:fly became:become forgot:forget forgotten:forget rode:ride ridden:ride swept:sweep led:lead
    ran:run fed:feed shot:shoot worn:wear wore:wear torn:tear dug:dig laid:lay dealt:deal forbidden:forbid
    forbade:forbid shrank:shrink taught:teach noted:note notes:note noting:note themes:theme themed:theme
    overthrew:overthrow overturned:overturn upheld:uphold
    sank:sink lent:lend agreed:agree freed:free guaranteed:guarantee
"""

_REGULAR = """
    failure left does has this is was us its always previous less loss news business access bonus status address
    need during nothing everything something thing morning evening spring king red hundred only daily early
    family reply apply supply july italy weekly monthly yearly annually hourly likely allegedly reportedly
    supposedly possibly probably rarely hardly barely scarcely usually promptly approximately roughly
    immediately instantly best highest lowest second speed note theme cane herring butt fore
"""

_NOUNS = """
    cancellation:cancel delivery:deliver arrival:arrive departure:depart registration:register
    installation:install renewal:renew reduction:reduce removal:remove refusal:refuse decision:decide
    discussion:discuss agreement:agree payment:pay shipment:ship replacement:replace repayment:repay
    treatment:treat investment:invest announcement:announce appointment:appoint development:develop
    improvement:improve measurement:measure movement:move punishment:punish settlement:settle statement:state
    assessment:assess arrangement:arrange cancellations:cancel deliveries:deliver arrivals:arrive
    departures:depart registrations:register renewals:renew reductions:reduce decisions:decide
    discussions:discuss payments:pay replacements:replace improvements:improve announcements:announce
    appointments:appoint statements:state assessments:assess measurements:measure examination:examine
    investigation:investigate negotiation:negotiate recommendation:recommend recommendations:recommend
    negotiations:negotiate investigations:investigate construction:construct destruction:destroy
    production:produce protection:protect selection:select collection:collect connection:connect
    correction:correct election:elect inspection:inspect rejection:reject suspension:suspend extension:extend
    expansion:expand permission:permit submission:submit admission:admit resignation:resign relocation:relocate
    notification:notify verification:verify confirmation:confirm completion:complete approvals:approve
    denials:deny proposal:propose survival:survive
"""
IRREGULAR: dict[str, str] = {
    form: base for form, _, base in (each.partition(":") for each in (_IRREGULAR + _NOUNS).split())
} | {word: word for word in _REGULAR.split()}
"""Forms the suffix rules would get wrong."""
