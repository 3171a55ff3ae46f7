"""``promptfuzz cache``: one module an action."""
