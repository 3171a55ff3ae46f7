"""Operators that move, join and restyle the parts of a prompt: what they make, and where they must do nothing.

The prompts and what is expected of them were written down before the operators were.
"""

from __future__ import annotations

import sys
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from mutation_samples import TEXTS

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.randomness import Rng, root_key


def draft_of(text: str) -> Draft:
    spans = as_prompt(text).spans
    return Draft(text, [(start, end) for start, end, _ in spans], kinds=[kind for *_, kind in spans])


def outcomes(name: str, text: str, *, seeds: int = 12, most: int = 12) -> set[str]:
    """Everything an operator makes of a prompt in a few draws; each result keeps what is protected."""
    each, draft = builtin()[name], draft_of(text)
    found: set[str] = set()
    for seed in range(seeds):
        for edits in islice(each.proposals(draft, Rng(root_key(seed, text), each.id)), most):
            check_edits(edits, len(text), draft.protected(each.touches), source=name)
            found.add(apply_edits(text, edits))
    return found - {text}


SOURCES = """Answer the question using only the sources below. Cite them like [1] or [2, 3] after each claim.

[1] Miller et al. (2019) found that the effect vanishes above 25 °C.
[2] Okafor and Lind (2021) report no significant effect (p = 0.31, n = 48).

Question: Does temperature influence the effect?"""

ACTS = [
    # Documents: the label travels with the document, so that a citation stays true.
    (
        "document-reorder",
        "Document 1: Paris is in France.\nDocument 2: Rome is in Italy.\n\nQuestion: {question}",
        "Document 2: Rome is in Italy.\nDocument 1: Paris is in France.\n\nQuestion: {question}",
    ),
    (
        "document-reorder",
        SOURCES,
        SOURCES.replace(
            "[1] Miller et al. (2019) found that the effect vanishes above 25 °C.\n"
            "[2] Okafor and Lind (2021) report no significant effect (p = 0.31, n = 48).",
            "[2] Okafor and Lind (2021) report no significant effect (p = 0.31, n = 48).\n"
            "[1] Miller et al. (2019) found that the effect vanishes above 25 °C.",
        ),
    ),
    (
        "document-reorder",
        (
            '<documents>\n<document index="1">\n{{REPORT}}\n</document>\n<document index="2">\n{{ANALYSIS}}\n</document>\n'
            "</documents>\n\nCompare the report and the analysis."
        ),
        (
            '<documents>\n<document index="2">\n{{ANALYSIS}}\n</document>\n<document index="1">\n{{REPORT}}\n</document>\n'
            "</documents>\n\nCompare the report and the analysis."
        ),
    ),
    (
        "document-reorder",
        "Compare the agreements.\n\nAGREEMENT A:\n${agreement_a}\n\nAGREEMENT B:\n${agreement_b}\n\nWhich one is safer?",
        "Compare the agreements.\n\nAGREEMENT B:\n${agreement_b}\n\nAGREEMENT A:\n${agreement_a}\n\nWhich one is safer?",
    ),
    (
        "document-reorder",
        "# Context A\nThe shop opens at nine.\n\n# Context B\nThe shop sells bread.\n\n# Question\n{q}",
        "# Context B\nThe shop sells bread.\n\n# Context A\nThe shop opens at nine.\n\n# Question\n{q}",
    ),
    (
        "document-reorder",
        "<doc>Cats purr.</doc>\n<doc>Dogs bark.</doc>\n\nWhich animal barks?",
        "<doc>Dogs bark.</doc>\n<doc>Cats purr.</doc>\n\nWhich animal barks?",
    ),
    (
        "document-reorder",
        "Source 1:\nTitle: Tides\nText: The moon pulls.\n\nSource 2:\nTitle: Rain\nText: Clouds cool.\n\nAnswer {q}.",
        "Source 2:\nTitle: Rain\nText: Clouds cool.\n\nSource 1:\nTitle: Tides\nText: The moon pulls.\n\nAnswer {q}.",
    ),
    (
        "document-reorder",
        (
            '<document id="a">\n<source>x.pdf</source>\n{{X}}\n</document>\n<document id="b">\n<source>y.pdf</source>\n'
            "{{Y}}\n</document>\n\nCompare them."
        ),
        (
            '<document id="b">\n<source>y.pdf</source>\n{{Y}}\n</document>\n<document id="a">\n<source>x.pdf</source>\n'
            "{{X}}\n</document>\n\nCompare them."
        ),
    ),
    (
        "document-reorder",
        "[1] Cats purr.\n[2] Dogs bark.\nWhich animal barks?",
        "[2] Dogs bark.\n[1] Cats purr.\nWhich animal barks?",
    ),
    # Output instructions to the end: before a cue, after the data.
    (
        "output-instructions-last",
        "Classify the ticket as POSITIVE or NEGATIVE. Return only the label.\n\nTicket: {ticket}\n\nLabel:",
        "Classify the ticket as POSITIVE or NEGATIVE.\n\nTicket: {ticket}\n\nReturn only the label.\n\nLabel:",
    ),
    (
        "output-instructions-last",
        (
            "Read the call.\n\n<call>\n{call}\n</call>\n\nAnswer with four lines. Every line holds a number. Be fair. Stay kind."
        ),
        (
            "Read the call.\n\n<call>\n{call}\n</call>\n\nBe fair. Stay kind. Answer with four lines. Every line holds a number."
        ),
    ),
    (
        "output-instructions-first",
        "Read the mail. Return only a label. The label must be in lower case. Be fair.\n\n{mail}",
        "Return only a label. The label must be in lower case. Read the mail. Be fair.\n\n{mail}",
    ),
    (
        "output-instructions-last",
        "Respond in French. Explain the error in the log to a beginner. Stay friendly.",
        "Explain the error in the log to a beginner. Stay friendly. Respond in French.",
    ),
    (
        "output-instructions-last",
        (
            "Read the customer's message and decide which team should handle it.\n\n"
            "Answer with exactly one of: BILLING, SHIPPING, RETURNS, OTHER.\n\nCustomer message:\n{message}"
        ),
        (
            "Read the customer's message and decide which team should handle it.\n\n"
            "Customer message:\n{message}\n\nAnswer with exactly one of: BILLING, SHIPPING, RETURNS, OTHER."
        ),
    ),
    (
        "output-instructions-last",
        (
            "Grade the essay from 1 to 5.\n\nGive your output in this format:\nScore: <1-5>\nReason: <one sentence>\n\n"
            "Essay: {{essay}}"
        ),
        (
            "Grade the essay from 1 to 5.\n\nEssay: {{essay}}\n\n"
            "Give your output in this format:\nScore: <1-5>\nReason: <one sentence>"
        ),
    ),
    (
        "output-instructions-last",
        "Summarize the review. Return a JSON object. It must have the keys `a` and `b`. Be fair.\n\n{review}",
        "Summarize the review. Be fair.\n\n{review}\n\nReturn a JSON object. It must have the keys `a` and `b`.",
    ),
    (
        "output-instructions-last",
        "Sort the mail. Return only the label. Do not explain your choice.\n\nMail: {mail}",
        "Sort the mail.\n\nMail: {mail}\n\nReturn only the label. Do not explain your choice.",
    ),
    (
        "output-instructions-last",
        "Sort the mail.\n\nReturn only the label. Do not explain your choice.\n\nMail: {mail}",
        "Sort the mail.\n\nMail: {mail}\n\nReturn only the label. Do not explain your choice.",
    ),
    # ... and to the beginning.
    (
        "output-instructions-first",
        "Sort the mail.\n\n{mail}\n\nReturn only the label. Do not explain your choice.\n",
        "Return only the label. Do not explain your choice.\n\nSort the mail.\n\n{mail}\n",
    ),
    (
        "output-instructions-first",
        "Classify the ticket as POSITIVE or NEGATIVE. Return only the label.\n\nTicket: {ticket}\n\nLabel:",
        "Return only the label. Classify the ticket as POSITIVE or NEGATIVE.\n\nTicket: {ticket}\n\nLabel:",
    ),
    (
        "output-instructions-first",
        "Find all persons in the article.\n\nArticle: {article}\n\nRespond with a JSON array of names.",
        "Respond with a JSON array of names.\n\nFind all persons in the article.\n\nArticle: {article}",
    ),
    (
        "output-instructions-first",
        "You are a tutor. Explain {topic}. Your answer must be at most 80 words. Use simple words.",
        "Your answer must be at most 80 words. You are a tutor. Explain {topic}. Use simple words.",
    ),
    (
        "output-instructions-first",
        "# Task\nSummarise the letter.\n\n# Output format\nA single paragraph.\n\n# Letter\n{letter}",
        "# Output format\nA single paragraph.\n\n# Task\nSummarise the letter.\n\n# Letter\n{letter}",
    ),
    (
        "output-instructions-last",
        "# Task\nSummarise the letter.\n\n# Output format\nA single paragraph.\n\n# Letter\n{letter}",
        "# Task\nSummarise the letter.\n\n# Letter\n{letter}\n\n# Output format\nA single paragraph.",
    ),
    (
        "output-instructions-last",
        "Sort the mail. Return only a label.\n\n<mail>\n{mail}\n</mail>\n\n<answer>",
        "Sort the mail.\n\n<mail>\n{mail}\n</mail>\n\nReturn only a label.\n\n<answer>",
    ),
    (
        "output-instructions-first",
        "Sort the mail.\r\nReturn only a label.\r\nBe fair.\r\n\r\n{mail}",
        "Return only a label.\r\nSort the mail.\r\nBe fair.\r\n\r\n{mail}",
    ),
    (
        "output-instructions-last",
        "Sort the mail. Return JSON\n\n- Be fair\n- Be kind",
        "Sort the mail.\n\n- Be fair\n- Be kind\n\nReturn JSON",
    ),
    # Task and text.
    (
        "text-first",
        "Classify the following review:\n\n{review}",
        "{review}\n\nClassify the above review.",
    ),
    (
        "text-first",
        "Classify the sentiment of this tweet: {tweet}",
        "{tweet}\n\nClassify the sentiment of this tweet.",
    ),
    (
        "text-first",
        'Summarize the article below in one sentence:\n\n"""\n{article}\n"""',
        '"""\n{article}\n"""\n\nSummarize the article above in one sentence.',
    ),
    (
        "text-first",
        "You are an editor. Correct the following text: {text}\nKeep the tone.",
        "{text}\n\nYou are an editor. Correct the above text.\nKeep the tone.",
    ),
    (
        "text-first",
        "Classify the following text.\n\nText: {text}",
        "Text: {text}\n\nClassify the above text.",
    ),
    (
        "task-first",
        "{review}\n\nClassify the above review.",
        "Classify the review below.\n\n{review}",
    ),
    (
        "task-first",
        "{photo}\n\nSay what the repair of the shoe above costs.",
        "Say what the repair of the shoe below costs.\n\n{photo}",
    ),
    (
        "task-first",
        "{reviews}\n\nClassify all of the above reviews.",
        "Classify all of the reviews below.\n\n{reviews}",
    ),
    (
        "task-first",
        "Text: {text}\n\nClassify the text above.",
        "Classify the text below.\n\nText: {text}",
    ),
    (
        "task-first",
        "{article}\n\nSummarize this article in two sentences.",
        "Summarize this article in two sentences.\n\n{article}",
    ),
    # Several at once.
    (
        "positional-mix",
        "Answer the question. Return only a number.\n\nDocument 1: Ten cats.\nDocument 2: Six dogs.\n\nQuestion: {q}",
        "Answer the question.\n\nDocument 2: Six dogs.\nDocument 1: Ten cats.\n\nQuestion: {q}\n\nReturn only a number.",
    ),
    # Headings, rules and tags.
    (
        "heading-restyle",
        "## Task\nSummarise the letter.\n\n## Letter\n{letter}",
        "**Task**\nSummarise the letter.\n\n**Letter**\n{letter}",
    ),
    (
        "heading-restyle",
        "## Task\nSummarise the letter.\n\n## Letter\n{letter}",
        "Task:\nSummarise the letter.\n\nLetter:\n{letter}",
    ),
    (
        "heading-restyle",
        "## Task\nSummarise the letter.\n\n## Letter\n{letter}",
        "### Task\nSummarise the letter.\n\n### Letter\n{letter}",
    ),
    (
        "heading-restyle",
        "# Role\nYou are an editor.\n\n## Rules\nBe brief.\n\n## Text\n{text}",
        "## Role\nYou are an editor.\n\n### Rules\nBe brief.\n\n### Text\n{text}",
    ),
    (
        "heading-restyle",
        "**Task:**\nSummarise the letter.\n\n**Letter:**\n{letter}",
        "## Task\nSummarise the letter.\n\n## Letter\n{letter}",
    ),
    (
        "heading-restyle",
        "Summarise the letter.\n\nCustomer letter:\n{letter}",
        "Summarise the letter.\n\n## Customer letter\n{letter}",
    ),
    (
        "heading-restyle",
        "=== Task ===\nSort the words.\n\n=== Words ===\n{words}",
        "**Task**\nSort the words.\n\n**Words**\n{words}",
    ),
    (
        "rule-restyle",
        "Summarise the letter.\n\n---\n\n{letter}\n\n---\n\nBe brief.",
        "Summarise the letter.\n\n***\n\n{letter}\n\n***\n\nBe brief.",
    ),
    (
        "rule-restyle",
        "Context:\n=====\n{context}\n=====\nAnswer the question.",
        "Context:\n###\n{context}\n###\nAnswer the question.",
    ),
    (
        "headings-to-tags",
        "## Task\nSummarise the letter.\n\n## Letter\n{letter}",
        "<task>\nSummarise the letter.\n</task>\n\n<letter>\n{letter}\n</letter>",
    ),
    (
        "headings-to-tags",
        "Sort it.\n\n**Categories:**\n- fresh\n- blue\n\nDo not name two. Answer in lower case.",
        "Sort it.\n\n<categories>\n- fresh\n- blue\n</categories>\n\nDo not name two. Answer in lower case.",
    ),
    (
        "headings-to-tags",
        "**Structure:**\n\n1. Aim\n2. Budget\n\n---\n\n**Proposal:**\n\n{proposal}\n\n---\n\nUse 120 words.",
        "<structure>\n\n1. Aim\n2. Budget\n</structure>\n\n---\n\n<proposal>\n\n{proposal}\n</proposal>\n\n---\n\nUse 120 words.",
    ),
    (
        "headings-to-tags",
        "## Role\nAn editor.\n\nYou like brevity.\n\n## Letter\n{letter}\n\nSum it up.",
        "<role>\nAn editor.\n\nYou like brevity.\n</role>\n\n<letter>\n{letter}\n</letter>\n\nSum it up.",
    ),
    (
        "headings-to-tags",
        "Be kind.\n\n# Output format\n\nOne line.\n\n# Text\n\n{text}\n",
        "Be kind.\n\n<output_format>\n\nOne line.\n</output_format>\n\n<text>\n\n{text}\n</text>\n",
    ),
    (
        "tags-to-headings",
        "Be kind.\n\n<task>\nSummarise the letter.\n</task>\n<the_letter>\n{letter}\n</the_letter>",
        "Be kind.\n\n## Task\nSummarise the letter.\n## The letter\n{letter}",
    ),
    # Paragraphs and bullets.
    (
        "bullets-to-sentences",
        "Rules:\n- Be brief.\n- Use British spelling.\n\nText: {text}",
        "Rules:\nBe brief. Use British spelling.\n\nText: {text}",
    ),
    (
        "bullets-to-sentences",
        "Answer the question.\n\n* Cite the region\n* Never round numbers\n\n{question}",
        "Answer the question.\n\nCite the region. Never round numbers.\n\n{question}",
    ),
    (
        "paragraph-split",
        "You are an editor. Correct the text. Keep the tone.",
        "You are an editor.\n\nCorrect the text. Keep the tone.",
    ),
    (
        "paragraph-merge",
        "You are an editor.\n\nCorrect the text. Keep the tone.\n\n{text}",
        "You are an editor. Correct the text. Keep the tone.\n\n{text}",
    ),
    # Data travels with its heading.
    (
        "text-first",
        'Check the ad.\n\n**Guidelines**\n\n- Name no rival.\n\n**Ad**\n\n"{ad}"\n\n**Output**\n\nReturn a table.',
        '**Ad**\n\n"{ad}"\n\nCheck the ad.\n\n**Guidelines**\n\n- Name no rival.\n\n**Output**\n\nReturn a table.',
    ),
    (
        "context-last",
        "Check the ad.\n\nAdvertisement\n\n{ad}\n\nBe fair.",
        "Check the ad.\n\nBe fair.\n\nAdvertisement\n\n{ad}",
    ),
    (
        "context-first",
        "Summarise the report below.\n\nWhen you find a date, keep it.\n\nReport: {report}",
        "Report: {report}\n\nSummarise the report above.\n\nWhen you find a date, keep it.",
    ),
    # A section moves as a whole, once.
    (
        "output-instructions-first",
        "## Task\n\nSum up the text.\n\n## Rules\n\n- Be fair.\n\n## Output\n\nReturn a paragraph. Add no bullets.",
        "## Output\n\nReturn a paragraph. Add no bullets.\n\n## Task\n\nSum up the text.\n\n## Rules\n\n- Be fair.",
    ),
    (
        "sentences-to-bullets",
        "You are a clerk. Sort the mail.\n\nBe brief. Add no remarks.\n\nMail: {mail}",
        "You are a clerk. Sort the mail.\n\n- Be brief.\n- Add no remarks.\n\nMail: {mail}",
    ),
    (
        "sentences-to-bullets",
        "Tu es un clerc. Trie le courrier.\r\n\r\n{mail}",
        "- Tu es un clerc.\r\n- Trie le courrier.\r\n\r\n{mail}",
    ),
    (
        "numbered-to-bulleted",
        "Answering rules:\n1. Be brief.\n2. No slang.\n\nFormat:\n1. Title\n2. Body",
        "Answering rules:\n- Be brief.\n- No slang.\n\nFormat:\n1. Title\n2. Body",
    ),
    (
        "bulleted-to-numbered",
        "Format:\n+ Title\n+ Body\n\nRules:\n* Be brief.\n* Be kind.",
        "Format:\n+ Title\n+ Body\n\nRules:\n1. Be brief.\n2. Be kind.",
    ),
]


STAYS = [
    # Order is spoken of, or citations would become untrue.
    ("document-reorder", "Document 1: A cat.\nDocument 2: A dog.\n\nWhat does the first document say?"),
    ("document-reorder", "<doc>A cat.</doc>\n<doc>A dog.</doc>\n\nCite documents as [1] and [2]."),
    ("document-reorder", "Source A: A cat.\nSource B: A dog.\n\nCite the sources as [1] and [2]."),
    ("document-reorder", "Passage 1: Ann left.\nPassage 2: Then she came back.\n\nWhere is Ann?"),
    ("document-reorder", "Passage 1: Ann left.\nPassage 2: The previous passage is wrong.\n\nWhere is Ann?"),
    ("document-reorder", "The documents are sorted by date.\n\nDocument 1: A cat.\nDocument 2: A dog."),
    ("document-reorder", "Document 1: A cat.\n\nIt purrs.\n\nDocument 2: A dog.\n\nIt barks.\n\nBe brief."),
    ("document-reorder", "Step 1: Read it.\nStep 2: Sum it up."),
    ("document-reorder", "Document 1: Only one.\n\nSum it up."),
    ("document-reorder", "Document 1: A cat.\nDocument 1: A dog.\n\nSum them up."),
    ("document-reorder", "Dokument 1: Eine Katze.\nDokument 2: Ein Hund.\n\nFasse die Texte zusammen."),
    ("document-reorder", "```\nDocument 1: A cat.\nDocument 2: A dog.\n```\nCount the animals in the block."),
    ("document-reorder", "Compare it with the latter.\n\nText A: A cat.\nText B: A dog."),
    ("document-reorder", "```\n<doc>A cat.</doc>\n<doc>A dog.</doc>\n```\nCount the animals in the block."),
    # Not an instruction about the output, or not one that stands by itself.
    ("output-instructions-last", "Answer the question using only the context.\n\nContext: {context}"),
    ("output-instructions-last", "Reply to the customer politely. Mention the refund.\n\n{message}"),
    ("output-instructions-last", "First read the ticket. Then return only the label.\n\nTicket: {ticket}"),
    ("output-instructions-last", "List the names. Otherwise, return an empty list.\n\nText: {text}"),
    ("output-instructions-last", "Find the names. Return them as JSON.\n\nText: {text}"),
    ("output-instructions-last", "If the text is empty, return null. Be brief.\n\nText: {text}"),
    ("output-instructions-last", "Sort the words. Return one of the following:\n\n- yes\n- no"),
    ("output-instructions-last", "Be brief. Return only the label."),
    ("output-instructions-last", "Return only the label.\n\nText: {text}"),
    ("output-instructions-last", "Label it. Return one label. The format above is binding.\n\nText: {text}"),
    (
        "output-instructions-last",
        "Rate it. Return a number.\n\nReview: good\nScore: 5\n\nReview: {review}\nScore:",
    ),
    ("output-instructions-first", "Return only the label. Classify the ticket.\n\nTicket: {ticket}"),
    ("output-instructions-first", "Find all persons.\n\nArticle: {article}\n\nReturn them as a JSON array."),
    ("output-instructions-first", "Read the text. Return the same words in this order.\n\nText: {text}"),
    ("output-instructions-first", "Lies den Text. Antworte nur mit dem Label.\n\nText: {text}"),
    ("output-instructions-last", "First, read it. Return only the label. Finally, check it.\n\n{text}"),
    ("output-instructions-last", "Sort the words of the text. Return a label。Be fair to all.\n\n{text}"),
    ("output-instructions-last", "Find the names. Return a JSON array of them. Be fair.\n\nText: {text}"),
    ("output-instructions-last", "Sort it. Return the words listed here. Be fair.\n\n{text}"),
    ("output-instructions-first", "System: {s}\n\nSort it. Return only a label.\n\nUser: {t}"),
    (
        "output-instructions-last",
        "# Task\nSort it.\n\n# Output format\nOne line.\n\n# Text\n{text}\n\nLabel:",
    ),
    # It may be data: in tags, under a heading or a name, after text that a name introduces.
    ("output-instructions-first", "Sort the mail.\n\n<mail>\nHi!\n\nReply with an offer. Thanks.\n</mail>"),
    ("output-instructions-first", "Sort the mail. Be fair.\n\nMail:\n\nHi!\n\nReply with an offer."),
    ("output-instructions-first", "# Task\nSort it.\n\n# Mail\nHi! Reply with an offer. Thanks."),
    ("output-instructions-first", "Sort the mail.\n\nMail: Hi there.\n\nReply with an offer."),
    ("output-instructions-first", "Sort the mail.\n\nMail: Hi there.\nReply with an offer."),
    ("output-instructions-last", "User: Sort it. Return only a label.\nAssistant:"),
    ("output-instructions-last", "Sort it. Return a list like this.\n- one\n- two\n\n{text}"),
    ("output-instructions-last", "Sort it. Return a list.\n\nIt must be short.\n\n{text}"),
    ("output-instructions-first", "Follow the steps:\n1. Read it.\n2. Return only the label."),
    # Text that cannot be set apart from the task.
    ("text-first", "Translate to French: {text}"),
    ("text-first", "Compare the following texts: {a} and {b}"),
    ("text-first", "Is {text} positive?"),
    ("text-first", "Classify the following review: {review}\n\nProduct: {product}"),
    ("context-first", "Classify the following review: {review}\n\nProduct: {product}"),
    (
        "context-first",
        "Classify the following.\n\n{text}",
    ),  # nothing is named that could be turned to "above"
    ("text-first", "Sort this text into one of these categories: {categories}"),
    ("text-first", "Rate this review with a score of: 5"),
    ("text-first", "Complete the following sentence: {start}\n\nThe next line says: {line}"),
    ("text-first", "Text: {text}\n\nClassify the text above."),
    ("task-first", "Classify the text below.\n\nText: {text}"),
    ("context-last", "## Task\n\nLabel the claim.\n\n## Claim\n\n{claim}\n\n## Label"),
    ("instruction-reorder", "Answer full, half or none. Return only that word."),
    ("sentence-shuffle", "Quote every phrase. A better one must be given for each."),
    ("rule-restyle", "Translate the text between the rules.\n\n---\n\n{letter}\n\n---\n\nBe brief."),
    # What is to be returned is told before the next task, and not where it would name something else.
    (
        "output-instructions-last",
        "Choose a word for a big dog. Return only the word. Be kind.\n\nThen make a sentence with it. Avoid names.",
    ),
    (
        "output-instructions-first",
        "```python\nx = 1\n```\n\nTell me the colour that it prints. Return only the code. Be kind.",
    ),
    ("task-first", "{text}\n\nAs seen earlier, classify the text."),
    # Restyling where the style is spoken of, or is the output's.
    ("heading-restyle", "## Task\nWrite a report with headings.\n\n## Data\n{data}"),
    ("heading-restyle", "Write it in this structure.\n\n## Summary\nShort.\n\n## Risks\nLong."),
    ("heading-restyle", "Fill in:\n\n## Summary\n\n## Risks"),
    ("heading-restyle", "### Instruction:\nSort the words.\n\n### Response:"),
    ("heading-restyle", "Classify the review.\n\nLabel:"),
    ("heading-restyle", "Include:\n- the name\n- the date"),
    ("heading-restyle", "Review:\nGood.\nSentiment:\nPOSITIVE\n\nReview:\n{review}\nSentiment:"),
    ("heading-restyle", "Summarise the letter as Markdown.\n\n## Letter\n{letter}"),
    ("heading-restyle", "Schema:\nA table of books.\n\nReturn a single query.\n\nQuestion: {question}"),
    ("heading-restyle", "## Task\nReturn one ```sql block.\n\n## Request\n{request}"),
    ("rule-restyle", "The letter is delimited by ---.\n\n---\n\n{letter}\n\n---"),
    ("rule-restyle", "---\ntitle: Letters\n---\n\nSummarise the letter."),
    ("rule-restyle", "Sort the table.\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ("rule-restyle", "Letters\n---\n\nSummarise the letter."),
    ("rule-restyle", "Separate the answers with a line of dashes.\n\n---\n\n{text}"),
    ("headings-to-tags", "## What you may not do\nGive advice.\n\n## Facts\nNone."),
    ("headings-to-tags", "## Do not\nLie.\n\n## Facts\nNone."),
    ("headings-to-tags", "# Role\nAn editor.\n\n## Rules\nBe brief."),
    ("headings-to-tags", "## Task 1\nSort.\n\n## Task 2\nCount."),
    (
        "headings-to-tags",
        "**Examples:**\n\nText: a\nLabel: b\n\nText: {text}\nLabel:\n\nReturn only the label.",
    ),
    ("headings-to-tags", "## Task\nSort.\n\n## Examples\nText: a\nLabel: b\n\nReturn only the label."),
    ("headings-to-tags", "## Text\nThe fox jumped over the dog.\n\nSummarise it in one sentence."),
    ("tags-to-headings", "<text>\n{text}\n</text>\n\nSummarise the text."),
    ("tags-to-headings", "<task>\nSummarise.\n</task>\n<text>\n{text}\n</text>\nAnswer in <answer> tags."),
    ("tags-to-headings", "<task>\nCount the <b> tags.\n</task>\n<text>\n{text}\n</text>"),
    ("tags-to-headings", "<rule>\nBe kind.\n</rule>\n<rule>\nBe brief.\n</rule>"),
    ("tags-to-headings", "<do_not>\nLie.\n</do_not>\n<do>\nBe brief.\n</do>"),
    ("tags-to-headings", "<task>\nCount it.\n</task>\n<text>\n{text}\n</text>\nBe brief."),
    ("tags-to-headings", "<task>\nCount the tags.\n</task>\n<text>\n{text}\n</text>"),
    ("tags-to-headings", "Letter:\n<letter>\n{letter}\n</letter>"),
    ("tags-to-headings", "Fill in <name> and <date>."),
    ("tags-to-headings", "<a>\n<b>\nOne.\n</b>\n</a>"),
    ("bullets-to-sentences", "Choose one of:\n- Refund\n- Exchange"),
    ("bullets-to-sentences", "Rules:\n- the name\n- the date"),
    ("bullets-to-sentences", "Keep the bullets as they are:\n- Be brief.\n- Be kind."),
    ("bullets-to-sentences", "Rules:\n- Be brief.\n  - Use one line.\n- Be kind."),
    ("bullets-to-sentences", "Follow the steps in order:\n- Read the text.\n- Sum it up."),
    ("paragraph-split", "Read the text. It is long."),
    ("paragraph-merge", "Review the text.\n\nThe battery lasts all day. I like it."),
    ("paragraph-merge", "Sort it.\n\nThe battery lasts all day. I like it.\n\nLabel: {label}"),
    ("paragraph-merge", "Sort the mail.\n\nGive me a refund."),
    ("paragraph-merge", "Classify the text.\n\n{text}"),
    ("paragraph-merge", "Sort it.\r\n\r\nBe brief. Keep it\r\nshort.\r\n\r\n{text}"),
    ("paragraph-merge", "Sort it.\n\nBe brief. Keep it \nshort.\n\n{text}"),
    ("paragraph-merge", "Rules apply here:\nSort it.\n\nBe brief.\n\n{text}"),
    ("positional-mix", "Classify the ticket. Return only the label."),
    # What comes after a mail's first paragraph may be the mail; what points at a list may not point elsewhere.
    (
        "context-first",
        "Sum up the mail below.\n\nFrom: Ann\nSubject: Rent\n\nHi, the rent is due.\n\nBye, Ann",
    ),
    ("context-first", "Replace each of the following by a tag:\n1. Names\n2. Dates\n\nText:\n{text}"),
    # What points at the documents may not point the other way because the question moved.
    (
        "context-first",
        "Answer from the documents below.\n\n[1] The reef is brown.\n\n[2] Boats may pass.\n\nQuestion: {question}",
    ),
    (
        "text-first",
        "Use the price list below.\n\nA tent is 20 euros. A boat is 30 euros.\n\nQuestion: {question}",
    ),
    ("context-first", "Follow the rules below.\n- Be brief.\n- Be kind.\n\nText: {text}"),
    ("task-first", "A tent is 20 euros.\n\n{question}\n\nAnswer with the prices above."),
    # Data under one heading of several has no label of its own; a line across the page is no data.
    ("context-first", "## Task\n\nCheck the text.\n\nBe fair.\n\n{text}"),
    ("context-last", "Check the letter.\n\n---\n\nBe fair."),
    # Nothing is taken from under the heading that tells the form, nor all that stands under another.
    (
        "output-instructions-first",
        "Check the text.\n\n**Output**\n\nReturn a table. Two columns are enough.\n\n**Text**\n\n{text}",
    ),
    (
        "output-instructions-last",
        "**Task**\n\nAnswer in French.\n\n**Rules**\n\nRead the text. It is long.\n\n**Text**\n\n{text}",
    ),
    ("output-instructions-last", "Sum up the letter.\n\n**Letter**\n\nReturn a label to me.\n\nBe fair."),
    # Data, wrapped lines and what would run on in a list are no list.
    ("sentences-to-bullets", "Sum it up.\n\n> The boat was late. Nobody told us.\n\nBe brief."),
    ("sentences-to-bullets", "Translate it.\n\n2\n00:07 --> 00:09\nDon't just stand there...\nCome in!"),
    ("sentences-to-bullets", "Compare them.\n\nReport 2: Much lime ought to be\napplied. Use no salt."),
    ("sentences-to-bullets", "Avoid:\n- threats\n- slang\n\nNumber the messages. Add no remarks.\n\n{text}"),
    (
        "sentences-to-bullets",
        "Reply in French.\n\nBonjour, mon vélo est cassé. Que faire? I also need a lamp.",
    ),
    ("sentences-to-bullets", "Translate into Dutch.\n\nTurn off the oven. Open the door."),
    ("sentences-to-bullets", "Sort the mail.\n\n**Mail**\n\nSend me a lamp. Call me soon.\n\n{more}"),
    ("sentences-to-bullets", "Read the letter and keep the names\nas they are. Be brief."),
    # The marks of the parts of an answer, of questions and of data are its form.
    ("numbered-to-bulleted", "Sum it up.\n\n**Structure:**\n\n1. Aim of it\n2. Costs of it\n\n{text}"),
    ("numbered-to-bulleted", "Sections of the report:\n1. Aim\n2. Costs"),
    ("numbered-to-bulleted", "Read the text.\n\n1. Who wrote it?\n2. When?\n\n{text}"),
    ("numbered-to-bulleted", "Sort it.\n\n**Letter**\n\n1. Two lamps\n2. One boat"),
    ("bulleted-to-numbered", "Be brief.\n\nFormat:\n+ Title\n+ Body"),
    ("bulleted-to-numbered", "It should have:\n- a hook\n- a moral"),
    ("bulleted-to-numbered", "Choose exactly one label:\n\n- WITHIN\n- OVER\n\nAccount: {account}"),
    ("bulleted-to-numbered", "Notes from the meeting:\n- Ann will call.\n- Bob is ill.\n\nWrite an agenda."),
    ("bulleted-to-numbered", "Turn the notes into tasks.\n\n- Call the bank\n- Buy milk\n\nDon't guess."),
    ("sentences-to-bullets", "Nimm ein Wort aus der Liste. Im Zweifel gilt das erste.\n\n- KURS\n- ABO"),
    ("bulleted-to-numbered", "The email contains:\n- a greeting\n- a date"),
]


@pytest.mark.parametrize(("name", "before", "after"), ACTS, ids=[f"{a}: {b[:30]}" for a, b, _ in ACTS])
def test_it_acts(name: str, before: str, after: str) -> None:
    assert after in outcomes(name, before)


@pytest.mark.parametrize(("name", "text"), STAYS, ids=[f"{a}: {b[:30]}" for a, b in STAYS])
def test_it_stays(name: str, text: str) -> None:
    assert outcomes(name, text) == set()


def test_what_stands_there_already_stays() -> None:
    text = "Return a label for the list. Sort the words by length. Answer in French."
    assert outcomes("output-instructions-first", text) == {
        "Answer in French. Return a label for the list. Sort the words by length."
    }
    assert outcomes("output-instructions-last", text) == {
        "Sort the words by length. Answer in French. Return a label for the list."
    }


MOVING = ("document-reorder", "output-instructions-first", "output-instructions-last")
RESTYLING = ("heading-restyle", "rule-restyle", "headings-to-tags", "tags-to-headings")
ALL = sorted({name for name, *_ in (*ACTS, *STAYS)})


@pytest.mark.parametrize("name", ALL)
@given(text=TEXTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_protected_text_and_words_stay(name: str, text: str) -> None:
    for after in outcomes(name, text, seeds=1, most=2):
        if name in MOVING:
            assert sorted(after.split()) == sorted(text.split())
        if name in {"paragraph-split", "paragraph-merge"}:
            assert "".join(after.split()) == "".join(text.split())


@pytest.mark.parametrize("name", [*MOVING, "positional-mix", "text-first", "task-first"])
def test_nothing_crosses_from_one_message_into_another(name: str) -> None:
    prompt = Prompt.from_messages(
        [
            {"role": "system", "content": "You are kind. Respond with JSON. Sort the documents."},
            {"role": "user", "content": "<doc>Cats purr.</doc>\n<doc>Dogs bark.</doc>\n\nReturn a label."},
            {"role": "user", "content": "<doc>Cows moo.</doc>\n\nClassify the following text: {text}"},
        ]
    )
    found = plan(prompt, 8, operators=[name]).mutations
    assert found or name == "task-first"
    for each in found:
        messages = each.prompt.messages
        for role, words in ((0, "You are kind."), (1, "Cats purr."), (1, "Dogs bark."), (2, "{text}")):
            assert words in str(messages[role]["content"])


@pytest.mark.parametrize("name", ["output-instructions-first", "output-instructions-last", "positional-mix"])
def test_nothing_is_moved_twice(name: str) -> None:
    text = (
        "## Task\n\nSum up the reports.\n\n## Documents\n\nDocument 1: Cats purr.\n\nDocument 2: Dogs bark.\n\n"
        '## Rules\n\n- Be fair.\n- Say e.g. "It is said".\n\n## Output\n\nReturn a paragraph. Do not use bullets.\n\n'
        "## Hints\n\n- Cows moo."
    )
    found = outcomes(name, text)
    assert found
    for after in found:
        assert sorted(after.split()) == sorted(text.split())


def test_a_part_of_the_output_instructions_can_be_moved() -> None:
    text = "Read it. Return a label. Do not explain your choice. Respond in French. Be fair."
    each, draft = builtin()["output-instructions-last"], draft_of(text)
    one = next(iter(each.proposals(draft, Rng(root_key(0, text), each.id, intensity=1))))
    every = next(iter(each.proposals(draft, Rng(root_key(0, text), each.id))))
    assert sum(edit.parts == () for edit in one) == 1
    assert apply_edits(text, every) == (
        "Read it. Be fair. Return a label. Do not explain your choice. Respond in French."
    )


def test_the_first_proposal_takes_linear_time() -> None:
    """Ten times the prompt takes about ten times the steps, not a hundred times."""
    part = "Sort the mail. Return a label.\n\n- Be fair.\n- Be kind.\n\n## Part\nClassify the text below.\n\n"
    for name in ALL:
        steps = [_steps(name, part * count) for count in (20, 200)]
        assert steps[1] < 20 * steps[0] + 10_000, (name, steps)


def _steps(name: str, text: str) -> int:
    """How many calls the first proposal makes."""
    each, draft = builtin()[name], draft_of(text)
    draft.sentences, draft.words, draft.language  # noqa: B018  # found once for all operators
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        next(iter(each.proposals(draft, Rng(root_key(0, text), each.id))), None)
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    ("told", "turned"),
    [
        ("Below you find the notes. Be short.", "Above you find the notes. Be short."),
        ("Turn The Notes Below Into Minutes. Be short.", "Turn The Notes Above Into Minutes. Be short."),
        ("CLASSIFY THE NOTES BELOW. SAY WHY.", "CLASSIFY THE NOTES ABOVE. SAY WHY."),
    ],
)
def test_words_that_point_down_are_turned_whatever_their_case(told: str, turned: str) -> None:
    (made,) = plan(f"{told}\n\nNotes:\n{{notes}}", 1, operators=["text-first"]).mutations
    assert made.text == f"Notes:\n{{notes}}\n\n{turned}"
