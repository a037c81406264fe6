"""How many units of haystack make a length."""

from leadline.sizing.request import budget_for, fit_request

__all__ = ["budget_for", "fit_request"]
