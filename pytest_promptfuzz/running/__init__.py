"""Runs of a test's body: how they are driven, the limits of live calls, calls made early, batches."""
