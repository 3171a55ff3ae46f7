"""The pytest plugin: hooks that translate, nothing more."""

from __future__ import annotations

from pytest_promptfuzz.plugin.loading import load_as_installed

load_as_installed()
