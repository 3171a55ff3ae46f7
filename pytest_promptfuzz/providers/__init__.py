"""One module for each wire format, and what they share."""
