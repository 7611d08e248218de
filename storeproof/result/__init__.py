"""What a run found: collected, judged, written down and read back."""
