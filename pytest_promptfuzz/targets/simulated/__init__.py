"""The built-in simulated model: deterministic, offline, and brittle in the ways docs/simulated-model.md lists."""

from __future__ import annotations

from pytest_promptfuzz.targets.simulated.target import SimulatedModel, SimulatedTarget

__all__ = ["SimulatedModel", "SimulatedTarget"]
