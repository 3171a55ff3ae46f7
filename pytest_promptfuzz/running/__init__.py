"""Running trials: what a trial saw, in what order trials run, and what counts as an infrastructure error."""
