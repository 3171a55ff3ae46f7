"""Answers through the providers' batch interfaces: asked for together, had later, at half the price."""
