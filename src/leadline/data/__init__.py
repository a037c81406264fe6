"""Data sets and the model in the box: where they come from, getting them, and loading what is made of them."""

from leadline.data.catalogue import Entry, Wheel
from leadline.data.holdings import Status, entries, get, path, status

__all__ = ["Entry", "Status", "Wheel", "entries", "get", "path", "status"]
