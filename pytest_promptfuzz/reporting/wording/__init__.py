"""Sentences and rows that reports share."""
