"""Answers compared by the claims they make."""
