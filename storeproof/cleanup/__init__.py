"""Removes what a run made, however the run ends. If it was killed, its reaper or the next run does so."""
