"""From outcomes to a score and a verdict."""
