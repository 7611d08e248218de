"""What the stores that speak SQL have in common; each adds a dialect, and what only its server can do."""
