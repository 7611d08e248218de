"""Removes what a run made, however it ends; what a killed run left, its reaper or the next run removes."""
