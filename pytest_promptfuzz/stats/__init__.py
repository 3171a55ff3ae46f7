"""From outcomes to figures, without sentences: scores, intervals, tests, stopping, variance, verdicts."""
