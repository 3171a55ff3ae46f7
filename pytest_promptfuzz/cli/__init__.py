"""The ``promptfuzz`` command."""
