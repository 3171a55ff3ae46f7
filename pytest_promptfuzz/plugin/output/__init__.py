"""What the plugin says: outcomes, reports, the terminal, the end of a session."""
