"""What leadline is from Python: measure a model, open a run, look at a sample, correlate the tasks of several runs."""

from leadline.api.asking import measure
from leadline.api.runs import Records, Run, correlate, differing_tasks, open_run
from leadline.api.samples import NO_MODEL, Samples, open_samples, sample

__all__ = [
    "NO_MODEL",
    "Records",
    "Run",
    "Samples",
    "correlate",
    "differing_tasks",
    "measure",
    "open_run",
    "open_samples",
    "sample",
]
