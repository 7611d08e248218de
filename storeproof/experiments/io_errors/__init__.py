"""A disk that answers with errors: each call of a load fails in turn, and what was acknowledged is there after a power cut."""
