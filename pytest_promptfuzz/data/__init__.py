"""Words, phrases and patterns by language."""
