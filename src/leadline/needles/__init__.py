"""Needles that share no word with their question (NoLiMa, arXiv 2502.05167): sets, their reading, their lint."""
