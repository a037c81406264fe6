"""Summaries for people: the console table, charts as data, and one HTML page."""
