"""Showing results: one report model, rendered for terminal, HTML, Markdown and hosts of code."""
