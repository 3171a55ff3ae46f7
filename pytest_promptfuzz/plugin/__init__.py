"""The pytest plugin: hooks that translate, nothing more."""
