"""Earlier behaviour: accepted snapshots, earlier runs and how a run compares with them, counterexamples, git."""
