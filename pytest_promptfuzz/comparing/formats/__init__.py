"""Answers in a format that programs read: JSON, YAML, XML, code, SQL; which format an answer has."""
