"""Guards: exact checks for what similarity cannot see; each names what it found."""
