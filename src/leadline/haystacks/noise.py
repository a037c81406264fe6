"""The noise sentences of the repeat haystack (RULER, paper tables 7 and 8)."""

NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
