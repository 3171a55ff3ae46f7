"""Showing results: one report model, rendered for the terminal."""
