"""Figures: numbers with units, money, dates and times of day."""
