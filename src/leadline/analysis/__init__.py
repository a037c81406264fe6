"""From records to cells, lengths, effective lengths and verdicts.

Pure: it reads records, and knows neither models nor runs.
"""
