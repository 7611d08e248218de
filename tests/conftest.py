"""What all of our own tests stand on."""

from __future__ import annotations

import signal

# Whoever starts us in the background (`nohup`, a script's `&`) has us ignore these, and our children after us: then no
# test could interrupt a run. What is set to Python's own handlers here, a child finds at the system's defaults.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
