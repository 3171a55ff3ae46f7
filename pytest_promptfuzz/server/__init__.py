"""What we and our users need to test with: the local model server, its faults, the recording proxy."""
