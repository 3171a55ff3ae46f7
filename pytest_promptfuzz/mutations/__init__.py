"""How a prompt is changed: edits, mutations, operators, the planner."""
