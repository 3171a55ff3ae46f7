"""What the plugin writes: outcomes, reports, the terminal, the end of a run."""
