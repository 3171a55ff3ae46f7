"""One robustness evaluation from plan to verdict, for a test, a function or a model."""
