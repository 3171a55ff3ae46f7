"""Adverbs of prompts and what may stand for them; the module ``synonyms`` says how a line is read."""

from __future__ import annotations

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
