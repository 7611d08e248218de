"""Shows what became of the published claims: on the screen, and as a page."""
