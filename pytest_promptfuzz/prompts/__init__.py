"""What is mutated: prompts, their slots and their protected spans."""
