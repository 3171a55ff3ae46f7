"""Recordings for git: stored exchanges and the plans they answer, as JSON Lines beside the tests."""
