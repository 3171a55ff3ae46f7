from pytest_promptfuzz.mutations.draft import Draft
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.rng import Rng

from pytest_promptfuzz import operator


@operator("shouting", dimension="lexical", severity=0.3, preserves="yes", surface=True)
def shouting(draft: Draft, rng: Rng):
    """Some words in capitals (a fifth of them)."""
    for words in rng.draws(draft.words, 0.2):
        yield [replace(word.start, word.end, word.form.upper()) for word in words if not word.form.isupper()]


@operator("sign-off", dimension="augmentation", severity=0.1, preserves="yes")
def sign_off(draft, rng):
    "A closing phrase at the end."
    yield [Edit(len(draft.text), len(draft.text), (rng.choice((" Thanks!", " Thank you.")),))]
