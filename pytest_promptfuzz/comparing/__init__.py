"""Comparing a response with its baseline: similarity tiers, guards, task profiles."""
