"""Verbs of instructions and what may stand for them; the module ``synonyms`` says how a line is read."""

from __future__ import annotations

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
