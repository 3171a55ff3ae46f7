"""What tests are run against: the local model server, its faults, the recording proxy."""
