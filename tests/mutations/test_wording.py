"""Sentences in which a rewording operator once broke grammar or sense, and others in which it must still act."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.mutations.engine.planner import plan


def outcomes(operator: str, text: str) -> set[str]:
    """All texts that an operator makes of a prompt, as far as 60 draws find them."""
    return {each.text for each in plan(text, 60, operators=[operator]).mutations}


UNTOUCHED = [
    ("synonym", "answers", "Write one query that answers it."),
    ("synonym", "starts", "Find a line that starts with a dash."),
    ("synonym", "give", "Please give the user a link."),
    ("synonym", "primary", "Name the primary key."),
    ("synonym", "complex", "Add the complex numbers."),
    ("synonym", "regarding", "Plan a route, regarding $900 as the limit."),
    ("synonym", "avoid", "You must avoid errors."),
    ("instruction-paraphrase", "final answer in", "Write the final answer in French."),
    ("instruction-paraphrase", "you are a", "If you are a beginner, skip it."),
    ("instruction-paraphrase", "use bullets only", "Please use bullets only if needed."),
    ("instruction-paraphrase", "only use", "You may only use bullets if they help."),
    ("instruction-paraphrase", "Translate", "Translate the text from Dutch to English."),
    ("instruction-paraphrase", "tell me", "Please tell me a joke."),
    ("instruction-paraphrase", "based on", "The score is based on length."),
    ("instruction-paraphrase", "for each", "Name one for each of them."),
    ("formality", "therefore", "It is therefore late."),
    ("formality", "sufficient", "Is a sufficient amount there?"),
    ("formality", "attempt", "Rate each attempt to cheat."),
    ("formality", "purchase", "Describe the purchase."),
    ("formality", "you need to", "All you need to know is this."),
    ("formality", "kindly", "Speak kindly to the guest."),
    ("politeness", "Write me a reply.", "Reply politely.\n\nEmail:\nWrite me a reply. Send it."),
    ("imperative-to-question", "Check the proof", "Check the proof."),
    ("imperative-to-question", "Decide whether", "Decide whether it rained."),
    ("imperative-to-question", "Classify", "Classify the ticket. Say yes if it is urgent."),
    ("imperative-to-question", "Check if", "Check if the text is short."),
    ("question-to-imperative", "Can you swim", "Can you swim to Malta?"),
    ("question-to-imperative", "Can you find", "Can you find a prime above 90?"),
    ("question-to-imperative", "Could you write", "Could you write it? Answer yes or no."),
    ("question-to-imperative", "Can you explain", "Answer it.\n\nQuestion: Can you explain the rule?"),
    ("question-to-imperative", "can you write", "How can you write the text?"),
    (
        "active-to-passive",
        "not store",
        "Every system must not store the password. Each user may read all files.",
    ),
    ("active-to-passive", "must validate", "The system must validate the input and the output."),
    ("passive-to-active", "not be stored", "A password must not be stored by the system."),
    ("passive-to-active", "must be written", "The text must be written by hand."),
    ("urgency", "Email:\nWrite me a reply.", "Reply to it.\n\nEmail:\nWrite me a reply."),
    ("urgency", "<mail>\nWrite me a reply.\n</mail>", "Reply to it.\n<mail>\nWrite me a reply.\n</mail>"),
    ("apologetic", "following text.\n\n{text}", "Translate the following text.\n\n{text}"),
    ("active-to-passive", "Classify the ticket and", "Classify the ticket and return the label."),
    ("active-to-passive", "Classify the ticket in", "Classify the ticket in English, then stop."),
    ("active-to-passive", "cite the source that", "You must cite the source that says it."),
    ("active-to-passive", "Do not mention any", "Do not mention any price."),
    ("active-to-passive", "Explain the rule briefly", "Explain the rule briefly."),
    ("active-to-passive", "list the ingredients", "Do not list the ingredients again."),
    ("active-to-passive", "the past tense", "Use the past tense throughout."),
    ("active-to-passive", "Record the letter", "Record the letter aloud."),
    ("active-to-passive", "the names", "Return the names sorted."),
    ("active-to-passive", "the total", "You must check the total twice."),
    ("active-to-passive", "the answer", "Write the answer yourself."),
    ("active-to-passive", "Name the package main", "Name the package main."),
    (
        "passive-to-active",
        "must be answered",
        "Create three questions on the text. The questions must be answered without notes.",
    ),
    ("formality", "with regard to", "Say that it was cancelled with regard to high waves."),
    ("formality", "receive", "Choose the correct spelling: recieve, receive or receeve."),
    ("synonym", "Choose", "Choose the right spelling: recieve, receive or receeve."),
    ("passive-to-active", "can be returned", "The order can be returned in May."),
    ("enthusiasm", "Answer with A, B or C.", "Answer with A, B or C."),
    ("neutral", "I thank you!", "He wrote that I thank you! Please stop the car."),
    ("neutral", "Text: Please stop the car!", "Read it.\n\nText: Please stop the car!"),
    ("formal", "like", "Do you like figs? We get up late."),
    ("spelling-variant", "colour", "Use British spelling (colour, organise)."),
    ("keyboard-typo", "Okafor", "The study by Okafor and Lindqvist was cited widely."),
    ("keyboard-typo", "metformin", "Describe metformin clearly."),
    ("transposition-typo", "Sentiment", "Please write below.\nSentiment: good"),
    ("space-before-punctuation", "FINAL:", "Begin the line with FINAL: and stop."),
    (
        "context-last",
        "## Question\n\n{question}",
        "# Task\n\nAnswer it.\n\n## Question\n\n{question}\n\n## Rules\n\nBe brief.",
    ),
    ("sentence-reverse", "A) Red.\nB) Blue.", "A) Red.\nB) Blue.\nC) None of these."),
    ("synonym", "advantages", "Identify strategic advantages and recommend focus areas."),
    ("synonym", "checked in", "Power banks must never be checked in."),
    ("synonym", "follow what", "Citizens must be able to follow what the council decided."),
    ("formality", "Otherwise write", "Add the amount.\nOtherwise write NO REFUND."),
    ("casual", "Otherwise write", "Otherwise write NO REFUND and stop."),
    ("contraction", "as they are", "Keep the keys exactly as they are and replace the values."),
    ("contraction", "what it is but", "Say what it is but not why."),
    ("contraction", "than it is if", "Make it no longer than it is if you can."),
    ("imperative-to-question", "Explain", "Explain your reasoning, and do not recommend any drug."),
    ("imperative-to-question", "Mention", "Mention the warnings first and do not soften them:\n{x}"),
    ("imperative-to-question", "Take", "Take the prices from the text; do not convert them."),
    ("imperative-to-question", "Return", "Return the label, and never explain the choice."),
    ("imperative-to-question", "Write", "Write the reply: it must be short."),
]


@pytest.mark.parametrize(
    ("operator", "kept", "text"), UNTOUCHED, ids=[f"{a}: {b[:20]}" for a, b, _ in UNTOUCHED]
)
def test_it_stays(operator: str, kept: str, text: str) -> None:
    assert kept in text
    assert [each for each in outcomes(operator, text) if kept not in each] == []


ACTING = [
    ("synonym", "Write an answer.", "Write a response."),
    ("synonym", "Please give a summary.", "Please provide a summary."),
    ("instruction-paraphrase", "Answer in French.", "Write your answer in French."),
    ("instruction-paraphrase", "You are a poet.", "You act as a poet."),
    ("instruction-paraphrase", "Translate {text} to French.", "Put {text} into French."),
    ("instruction-paraphrase", "Use only verbs.", "Use nothing but verbs."),
    ("formality", "Therefore, stop.", "So, stop."),
    ("formality", "You need to answer.", "You are required to answer."),
    ("formality", "Answer questions with regard to the lease.", "Answer questions about the lease."),
    ("formality", "Use fruits such as figs.", "Use fruits like figs."),
    ("politeness", "Please write the reply to the guest.", "Write the reply to the guest."),
    ("imperative-to-question", "Classify the ticket.", "Would you classify the ticket?"),
    ("imperative-to-question", "Find the error.", "Could you find the error?"),
    (
        "question-to-imperative",
        "Could you please translate the text into French?",
        "Please translate the text into French.",
    ),
    ("question-to-imperative", "You know law. Can you explain {rule}?", "You know law. Explain {rule}."),
    ("question-to-imperative", "Can you write to the HR dept.?", "Write to the HR dept."),
    ("active-to-passive", "Name the capital of the country.", "The capital of the country must be named."),
    (
        "passive-to-active",
        "Create a table. The dates must be copied.",
        "Create a table. You must copy the dates.",
    ),
    ("active-to-passive", "You must include the date.", "The date must be included."),
    (
        "active-to-passive",
        "- The reply should mention the price",
        "- The price should be mentioned by the reply",
    ),
    ("active-to-passive", "The bot must not send the file.", "The file must not be sent by the bot."),
    ("active-to-passive", "Do not mention the price.", "The price must not be mentioned."),
    ("active-to-passive", "Summarise the text in {n} lines.", "The text must be summarised in {n} lines."),
    ("active-to-passive", "Verify the name of the caller.", "The name of the caller must be verified."),
    ("passive-to-active", "Names must be copied from the text.", "You must copy names from the text."),
    ("passive-to-active", "The form must be checked by the agent.", "The agent must check the form."),
    ("passive-to-active", "Your order can be checked by you.", "You can check your order."),
    ("formal", "Make sure that it is so.", "Ensure that it is so."),
    ("formal", "Write the reply.", "You are kindly requested to write the reply."),
    ("casual", "Please write the reply.", "Hey, I need you to write the reply."),
    ("casual", "In the event that it fails, stop.", "If it fails, stop."),
    ("urgency", "Write the reply.", "This is urgent. Write the reply."),
    ("urgency", "Follow these steps:\n1. Read it.", "This is urgent. Follow these steps:\n1. Read it."),
    ("enthusiasm", "Write the reply.", "Write the reply. I'm really looking forward to it!"),
    ("apologetic", "Write the reply.", "Write the reply. Sorry for the trouble."),
    ("neutral", "Please write the reply! Thanks a lot!", "Write the reply."),
    ("synonym", "The price is checked.", "The price is verified."),
    ("synonym", "Follow the rules.", "Stick to the rules."),
    ("formality", "Stop if it rains.\nOtherwise, write OK.", "Stop if it rains.\nIf not, write OK."),
    ("contraction", "Say that they are late.", "Say that they're late."),
    ("contraction", "It is a test and you are a guest.", "It's a test and you're a guest."),
    (
        "imperative-to-question",
        "Explain the rule and name the source.",
        "Could you explain the rule and name the source?",
    ),
    ("lower-case", "DO NOT TELL US WHO IT IS.", "do not tell us who it is."),
    ("lower-case", "Say that IT is down.", "say that IT is down."),
]


@pytest.mark.parametrize(("operator", "text", "wanted"), ACTING, ids=[f"{a}: {b[:20]}" for a, b, _ in ACTING])
def test_it_acts(operator: str, text: str, wanted: str) -> None:
    assert wanted in outcomes(operator, text)


# What must be in every outcome, whatever else changes: the form of the answer, data, names.
AS_WRITTEN = [
    ("Rate it.\n\nRespond in this format:\nScore: <1-5>\nNext step: <one sentence>", "Score: <1-5>\nNext step: <one"),
    ("Grade the essay.\n\nGive your output so:\nSCORE <1-5>\nReason in one line", "SCORE <1-5>\nReason in one line"),
    ("Make a list of songs, as yaml with the keys title, artist, bpm under a key playlist.", "title, artist, bpm"),
    ("Build a parts list with the attributes name, qty and material. Do not guess.", "name, qty and material"),
    ("Use this outline:\n\n### New\n### Fixed\n\n* Say what was changed in it.", "### New\n### Fixed"),
    ("Read it and answer at once.\n\nCondense it to:\n\tCustomer:\t<name>\n\tNeeds:\tthree bullets", "\tNeeds:\tthree bullets"),
    ("Answer each question. Otherwise answer invalid.\n\nQ: Which year?\nA: invalid\n\nQ: {q}\nA:", "A: invalid"),
    ("Answer each question. If it cannot be answered, answer invalid.", " invalid"),
    ("Put each field on its own line as name: value, in this order.", "name: value,"),
    ("Read the letter.\n\nLetter:\nDear Mrs Okafor, thank you (again), Ada.", "Dear Mrs Okafor, thank you (again), Ada."),
    ("Translate each line into Italian.\n\nphoto.share = Share it, friends", "Share it, friends"),
    ("Lies es. Gib je eine Zeile aus: Nummer; Beschluss; angenommen oder abgelehnt.", "Beschluss; angenommen oder abgelehnt"),
    ("Lee la opinión y puntúa.\n\nResponde con tres líneas, así:\ncomida: 4\nprecio: 2", "comida: 4\nprecio: 2"),
    ("Extract what is asked. Use null for what is missing.", "null"),
    ("Write about the town.\n\n[1] The Reef is deep, they say.\n\nQuestion: {q}", "The Reef is deep, they say."),
    ("Name what is asked:\n+ Title\n+ Body text", "+ Title\n+ Body text"),
    ("Decide whether it is about quality, price or service.", "quality, price or service"),
]  # fmt: skip
LOOKS = (
    "upper-case", "lower-case", "title-case", "random-case", "space-before-punctuation", "space-around-punctuation",
)  # fmt: skip


@pytest.mark.parametrize("operator", LOOKS)
@pytest.mark.parametrize(("text", "kept"), AS_WRITTEN, ids=[kept[:20] for _, kept in AS_WRITTEN])
def test_what_an_answer_repeats_stays_as_it_is_written(operator: str, text: str, kept: str) -> None:
    assert kept in text
    assert [each for each in outcomes(operator, text) if kept not in each] == []


@pytest.mark.parametrize(
    ("operator", "text", "wanted"),
    [
        ("upper-case", "Read it now.\n\nScore: <1-5>", "READ IT NOW.\n\nScore: <1-5>"),
        (
            "upper-case",
            "Return the keys name, age. Do not guess.",
            "RETURN THE keys name, age. DO NOT GUESS.",
        ),
        ("title-case", "Task: read the text with care.", "Task: Read The Text With Care."),
        ("lower-case", "Tell Mayor Reis of Lake Orvel. Be Kind.", "tell Mayor Reis of Lake Orvel. be kind."),
        (
            "lower-case",
            "List them. The vote was before May. Turkey and Polish people were there. May I?",
            "list them. the vote was before May. Turkey and Polish people were there. may I?",
        ),
        ("upper-case", "Say if the US likes us, too.", "SAY IF THE US LIKES us, TOO."),
        ("upper-case", "Tell us, too.", "TELL US, TOO."),
        (
            "sentence-case",
            "answer with a letter.\n\na) red\nb) blue",
            "Answer with a letter.\n\na) red\nb) blue",
        ),
        ("lower-case", "Schreibe dem Kunden und der Bank nicht.", "schreibe dem kunden und der bank nicht."),
        ("space-before-punctuation", "Read it.\n\nScore: 5, say", "Read it .\n\nScore: 5, say"),
    ],
)
def test_prose_around_it_still_changes(operator: str, text: str, wanted: str) -> None:
    assert wanted in outcomes(operator, text)


# The second must never come before the first.
LEANING = [
    ("A bag must be small. Tell the guest so at once. Use French.", "A bag must", "Tell the guest so"),
    ("Each guest may take one bag. Use French. The bag must be small.", "one bag", "The bag must"),
    (
        "Ask for the ten-digit file reference. Use French. Without the reference you may stop.",
        "file ref",
        "Without",
    ),
    ("My mug leaks. By the way, I can't log in. Use French.", "My mug", "By the way"),
    ("Do not name staff. In conclusion, name the price. Use French.", "Do not name", "In conclusion"),
    ("Check the name. In the event that the caller fails, stop. Use French.", "Check", "In the event"),
    ("Check the name. It is therefore wise to ask. Use French.", "Check", "therefore"),
    ("Write a letter to the firm. Use French. Inform the client that goods came.", "Write a", "Inform"),
    ("Use the app (ext. One is free). Be kind. Use French.", "ext.", "One is free"),
    ("You are a tutor. Use French. Be kind.", "You are", "Be kind"),
    ("We run a small charity. Use French. Be kind.", "We run", "Be kind"),
    ("Hi, the mug leaks. Please send a new cup. Use French.", "Hi", "Please"),
    ("Use French. Be kind. Thank you for reading.", "Be kind", "Thank you"),
]


@pytest.mark.parametrize("operator", ["sentence-shuffle", "sentence-reverse"])
@pytest.mark.parametrize(("text", "first", "second"), LEANING, ids=[second for _, _, second in LEANING])
def test_a_sentence_stays_behind_what_it_leans_on(operator: str, text: str, first: str, second: str) -> None:
    assert 0 <= text.index(first) < text.index(second)
    assert [each for each in outcomes(operator, text) if each.index(first) > each.index(second)] == []


def test_data_keeps_its_order() -> None:
    assert (
        outcomes("sentence-reverse", "Answer it.\n\nLetter:\nThe mug leaks. A cup broke. The lid fits.")
        == set()
    )
    assert outcomes("sentence-reverse", "Use French. Be kind. Stay calm.") == {
        "Stay calm. Be kind. Use French."
    }


@pytest.mark.parametrize("lead", ["Format:", "Use this outline:", "The answer has these sections:"])
def test_the_parts_of_an_output_keep_their_order(lead: str) -> None:
    assert outcomes("bullet-reorder", f"{lead}\n+ Title\n+ Body") == set()
    assert outcomes("bullet-reorder", "Tags:\n+ Title\n+ Body") == {"Tags:\n+ Body\n+ Title"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sentence-case", "Rate the coffee.\n\nAnswer in this format:\naroma: good\nacidity: none"),
        ("sentence-case", "Hello, we meet in Mill Park."),
        ("active-to-passive", "Review the clause from a commercial lease."),
        ("active-to-passive", "The last sentence must state the payback time."),
        ("spelling-variant", "Give the stop.\n\nReview: Line 6 to Harbour was late."),
        ("unabbreviation", "Call us by phone."),
        ("unabbreviation", "It costs approx. Nobody knows."),
    ],
)
def test_what_a_second_reading_failed_is_left_alone(name: str, text: str) -> None:
    changed = {"unabbreviation": "Call us by telephone."}.get(name)
    assert {each.text for each in plan(text, 4, operators=[name]).mutations} <= {changed}


def test_an_abbreviation_takes_its_full_stop_along() -> None:
    (made,) = plan("Write approx. 40 words.", 1, operators=["unabbreviation"]).mutations
    assert made.text == "Write approximately 40 words."


def test_rewritten_is_the_participle_of_rewrite() -> None:
    (made,) = plan("Do not rewrite the code.", 1, operators=["active-to-passive"]).mutations
    assert made.text == "The code must not be rewritten."
