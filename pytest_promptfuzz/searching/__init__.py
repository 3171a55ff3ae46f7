"""Searches without I/O: the space of changes, methods, the loop, the shrinker."""
