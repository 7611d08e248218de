"""The result of a run: collected, judged, written to `result.json` and read back."""
