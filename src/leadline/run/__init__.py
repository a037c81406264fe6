"""Runs: what to ask in which order, asking it, and keeping every answer."""
