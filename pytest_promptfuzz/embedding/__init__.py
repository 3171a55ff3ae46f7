"""Meaning as vectors: the models that make them, where they lie on this machine, and where vectors are kept."""
