"""Comparing a response with its baseline by rules: tiers, guards, formats, claims, task profiles."""
