"""What a mutation is and how it is made: edits, operators, their registry, and the planner."""
