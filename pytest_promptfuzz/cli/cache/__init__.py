"""``promptfuzz cache``: the actions on stored answers and recordings, a module each."""
