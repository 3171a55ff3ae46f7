"""Edits, mutations, operators, the planner."""
