"""What an answer says, read once: statements, and the tokens of each."""
