"""What we and our users need to test with: the local model server and its faults."""
