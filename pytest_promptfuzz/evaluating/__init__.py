"""One robustness evaluation from settings to verdict; the runner of a search."""
