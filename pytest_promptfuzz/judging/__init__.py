"""Comparing with models: embeddings, entailment, judges, and ``compare()``, which puts all tiers together."""
