"""What behaviour was: outcomes of runs that were accepted, in git beside the tests; counterexamples that are known."""
