"""Stands here so that tests find `tests.servers`, from wherever they are started."""

from __future__ import annotations

import signal

# A shell that starts a command in the background has Ctrl-C ignored by it and by all that it starts; tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
