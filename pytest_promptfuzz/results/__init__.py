"""What an evaluation comes to: trials, counterexamples, robustness, explanations."""
