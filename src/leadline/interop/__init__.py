"""Other tools' files: read as runs, and written from runs."""
