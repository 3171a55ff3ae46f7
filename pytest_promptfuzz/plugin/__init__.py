"""The pytest plugin: options, marks, fixtures, hooks, and what a run of pytest keeps."""

from __future__ import annotations

from pytest_promptfuzz.plugin.loading import load_as_installed

load_as_installed()
