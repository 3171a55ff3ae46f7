"""An operator of the project's own, so that what was written does not depend on how ours make mutations."""

from pytest_promptfuzz import Edit, operator

PHRASES = (
    " Thanks!",
    " Thank you.",
    " Please.",
    " Cheers!",
    " Regards.",
    " Many thanks.",
    " Kindly.",
    " Bye.",
)


@operator("courtesy", dimension="augmentation", severity=0.1, preserves="yes")
def courtesy(draft, rng):
    """A closing phrase at the end."""
    for phrase in PHRASES:
        yield [Edit(len(draft.text), len(draft.text), (phrase,))]
