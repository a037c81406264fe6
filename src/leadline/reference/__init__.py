"""The papers' tables as data: the figures as printed, and for each file where they come from.

The files beside this one are read, never derived from: what a table prints of its own scores (averages, ranks,
effective lengths) is kept only to be held against what the scores say.
"""
