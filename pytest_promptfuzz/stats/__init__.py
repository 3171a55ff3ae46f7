"""From outcomes to figures: intervals, tests, stopping, variance, verdicts."""
