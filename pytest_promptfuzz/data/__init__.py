"""Words, phrases and patterns by language: files with an entry a line, and the modules that read them."""
