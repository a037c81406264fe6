"""What is asked of a model: one file per family of tasks."""
