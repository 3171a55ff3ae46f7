"""Judges: models, and parts of one's own, that rate answers where nothing cheaper can tell."""
