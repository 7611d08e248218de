"""Two results beside each other: what a comparison says, on a screen and in files."""
