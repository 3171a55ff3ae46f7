"""Sentences that set a tone and ask for nothing, and ways to put an instruction in a register."""

from __future__ import annotations

URGENT_BEFORE = ("This is urgent.", "I need this urgently.", "Time is short.", "This is a matter of urgency.")
URGENT_AFTER = (
    "This is urgent.",
    "I need this as soon as possible.",
    "Please be quick about it.",
    "There is no time to lose.",
    "I am in a hurry.",
)
EXCITED_BEFORE = ("I'm really excited about this!", "This is going to be great!", "I love working with you!")
EXCITED_AFTER = (
    "I can't wait to see what you come up with!",
    "I'm really looking forward to it!",
    "I know you will do great!",
    "This is so exciting!",
)
SORRY_BEFORE = (
    "Sorry to bother you.",
    "I apologize for the trouble.",
    "Sorry for asking yet again.",
    "I am sorry to take up your time.",
)
SORRY_AFTER = (
    "Sorry for the trouble.",
    "I apologize for the inconvenience.",
    "Sorry if this is a lot to ask.",
)
"""Whole sentences, to stand before or after an instruction. None of them says anything about the answer."""

FORMAL_OPENINGS = ("You are kindly requested to", "I would ask you to", "I should be grateful if you would")
CASUAL_OPENINGS = ("Hey, I need you to", "Hi, I need you to", "Okay, go ahead and", "Hey, go ahead and")
"""What may stand before an instruction's verb."""

THANKS = (
    "thank you so much", "thank you very much", "thank you in advance", "thanks in advance", "many thanks",
    "thanks a lot", "thank you for your help", "thanks for your help", "thank you", "thanks",
)  # fmt: skip
"""Whole sentences of thanks, in lower case and without their closing mark, the longest first."""

REMARKS = {
    "urgency": (URGENT_BEFORE, URGENT_AFTER),
    "enthusiasm": (EXCITED_BEFORE, EXCITED_AFTER),
    "apologetic": (SORRY_BEFORE, SORRY_AFTER),
}
"""What an operator says before an instruction, and what after one."""
