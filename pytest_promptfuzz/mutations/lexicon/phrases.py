"""Phrases of instructions and what says the same: register, and other ways to put an instruction.

In a rule, which is a regular expression, ``{x}`` stands for a stretch of the sentence that is kept as it is; it never
crosses a sentence or colon.
"""

from __future__ import annotations

from pytest_promptfuzz.mutations.lexicon.table import words

REGISTER: tuple[tuple[str, str], ...] = (
    # formal, casual
    ("obtain", "get"),
    ("receive", "get"),
    ("in order to", "to"),
    ("prior to", "before"),
    ("subsequent to", "after"),
    ("additionally", "also"),
    ("therefore", "so"),
    ("consequently", "so"),
    ("otherwise", "if not"),
    ("assist", "help"),
    ("commence", "start"),
    ("utilize", "use"),
    ("sufficient", "enough"),
    ("numerous", "lots of"),
    ("approximately", "about"),
    ("regarding", "about"),
    ("such as", "like"),
    ("a great deal of", "a lot of"),
    ("in the event that", "if"),
    ("ensure that", "make sure that"),
    ("inquire about", "ask about"),
    ("attempt to", "try to"),
    ("endeavor to", "try to"),
    ("demonstrate", "show"),
    ("in accordance with", "in line with"),
    ("kindly", "please"),
    ("purchase", "buy"),
    ("reside", "live"),
    ("do not hesitate to", "feel free to"),
    ("you are required to", "you need to"),
    ("it is necessary to", "you need to"),
    ("you are requested to", "please"),
    ("at this time", "now"),
    ("in a timely manner", "quickly"),
    ("with regard to", "about"),
    ("in conclusion", "to sum up"),
    ("thank you for", "thanks for"),
    ("at your earliest convenience", "as soon as you can"),
    ("inform the user", "let the user know"),
    ("inform the customer", "let the customer know"),
    ("is able to", "can"),
    ("are able to", "can"),
    ("the manner in which", "how"),
    ("due to the fact that", "because"),
    ("in the course of", "during"),
)
"""Pairs ``(formal, casual)``, in lower case."""

ONE_WAY = frozenset(
    [
        *words(
            "to about also so help enough if get now start buy live like show please during can how because"
        ),
        *words("quickly after use before"),
        "lots of",
        "a lot of",
        "if not",
    ]
)
"""Casual phrases with so many uses that they are never turned formal."""

OPENING = words("additionally therefore consequently otherwise kindly") | {
    "you need to",
    "you are requested to",
}
"""Phrases that mean the same only where they open a sentence (``Otherwise, ...``, ``You need to ...``)."""

ABOUT = words(
    """
    advice answer answers ask asked call claim claims comment comments complain complained complaint complaints concern
    concerns decision decisions detail details doubt doubts email enquiries enquiry fact facts feedback guidance
    information inquiries inquiry know letter message news note notes opinion opinions problem problems question
    questions remark remarks report rule rules say says something speak statement statements talk tell text think write
    """
)
"""What ``with regard to`` and ``about`` say the same behind."""

VERBAL = words("obtain receive assist commence demonstrate purchase reside") | {
    "attempt to", "endeavor to", "try to", "inquire about", "ask about", "ensure that", "make sure that",
}  # fmt: skip
"""Phrases whose first word is a noun elsewhere, or takes another form with another subject."""

RULES: tuple[tuple[str, str], ...] = (
    ("classify {x} as", "label {x} as"),
    ("classify {x} into", "sort {x} into"),
    ("categorize {x} as", "classify {x} as"),
    ("determine whether", "decide whether"),
    ("determine if", "find out whether"),
    ("decide if", "decide whether"),
    ("return only", "respond with nothing but"),
    ("respond only with", "reply with nothing but"),
    ("respond with only", "respond with nothing but"),
    ("reply only with", "answer with nothing but"),
    ("reply with only", "reply with just"),
    ("answer only with", "respond with nothing but"),
    ("answer with only", "answer with just"),
    ("output only", "return nothing but"),
    ("only return", "return nothing but"),
    ("only output", "output nothing but"),
    ("only respond with", "respond with nothing but"),
    ("only reply with", "reply with nothing but"),
    ("only answer with", "answer with nothing but"),
    ("provide only", "give nothing but"),
    ("write only", "write nothing but"),
    ("respond with the", "reply with the"),
    ("respond with a", "reply with a"),
    ("respond in", "write your response in"),
    ("reply in", "write your reply in"),
    ("answer in", "write your answer in"),
    ("do not include", "leave out"),
    ("do not use", "refrain from using"),
    ("do not add", "refrain from adding"),
    ("do not mention(?! (?:that|how|whether))", "make no mention of"),
    ("do not make up", "never invent"),
    ("do not invent", "never make up"),
    ("do not provide", "refrain from providing"),
    ("do not repeat", "avoid repeating"),
    ("do not write", "avoid writing"),
    ("do not assume", "avoid assuming"),
    ("you are a", "you act as a"),
    ("you are an", "you act as an"),
    ("act as a", "take the role of a"),
    ("act as an", "take the role of an"),
    ("your task is to", "your job is to"),
    ("your job is to", "your task is to"),
    ("your goal is to", "your aim is to"),
    ("you will be given", "you will receive"),
    ("you will receive", "you will be given"),
    ("you are given", "you have been given"),
    ("i will give you", "you will get from me"),
    ("write a summary of", "summarize"),
    ("give a summary of", "summarize"),
    ("provide a summary of", "summarize"),
    ("summarize the", "write a summary of the"),
    ("summarize this", "write a summary of this"),
    ("translate {x} into", "put {x} into"),
    ("translate {x} to(?= (?-i:[A-Z])| \x00)", "put {x} into"),
    ("convert {x} to(?= (?:a|an|the|(?-i:[A-Z]{2}))\\b)", "turn {x} into"),
    ("convert {x} into", "turn {x} into"),
    ("transform {x} into", "turn {x} into"),
    ("make sure that", "ensure that"),
    ("make sure to", "be sure to"),
    ("be sure to", "make sure to"),
    ("make sure(?= (?:the|your|you|each|every|all|it|there)\\b)", "ensure that"),
    ("ensure that", "make sure that"),
    ("remember to", "make sure to"),
    ("answer the question", "respond to the question"),
    ("answer the following", "respond to the following"),
    ("answer questions", "respond to questions"),
    ("respond to the", "reply to the"),
    ("based on", "on the basis of"),
    ("on the basis of", "based on"),
    ("take into account", "consider"),
    ("keep in mind", "bear in mind"),
    ("bear in mind", "keep in mind"),
    ("pay attention to", "take note of"),
    ("focus on", "concentrate on"),
    ("concentrate on", "focus on"),
    ("consists of", "is made up of"),
    ("in your own words", "using your own words"),
    ("using only", "using nothing but"),
    ("use only", "use nothing but"),
    ("only use", "use nothing but"),
    ("along with", "together with"),
    ("in order to", "so as to"),
    ("for each(?= (?!of\\b)[a-z])", "for every"),
    ("for every(?= [a-z])", "for each"),
    ("step by step(?! (?!and\\b|then\\b|before\\b)[a-z])", "one step at a time"),
    ("think about", "reflect on"),
    ("come up with", "think up"),
    ("give me", "provide me with"),
    ("tell me(?= (?:if|whether|how|what|why|when|where|which|who|that|about)\\b)", "let me know"),
    ("show me", "let me see"),
    ("i want you to", "i would like you to"),
    ("i would like you to", "i want you to"),
    ("i need you to", "i want you to"),
    ("you should", "you are expected to"),
    ("you must", "you are required to"),
    ("you need to", "you have to"),
    ("you have to", "you need to"),
    ("should be", "ought to be"),
    ("whether or not", "whether"),
    ("if the answer is unknown", "if you do not know the answer"),
    ("if you are unsure", "if you are not sure"),
    ("if you are not sure", "if you are unsure"),
    ("no more than", "at most"),
    ("not more than", "at most"),
    ("extract {x} from", "pull {x} out of"),
    ("identify {x} in", "find {x} in"),
    ("find {x} in", "identify {x} in"),
    ("generate a", "come up with a"),
    ("create a", "put together a"),
    ("write a", "compose a"),
    ("explain why", "give the reason why"),
    ("explain how", "describe how"),
    ("describe how", "explain how"),
)
"""Pairs ``(pattern, paraphrase)``, in lower case."""

STARTING = ("you are a", "you are an")
"""Rules for the start of a sentence: "if you are a beginner" sets no role."""
