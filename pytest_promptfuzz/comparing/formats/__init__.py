"""Answers in a format that programs read: code and SQL, and which format an answer has."""
