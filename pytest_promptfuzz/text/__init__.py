"""What several rooms read texts with: expressions, languages, word diffs, JSON paths, terminal-safe text."""
