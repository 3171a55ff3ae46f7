"""What behaviour was: snapshots that were accepted, in git beside the tests; counterexamples that are known."""
