"""Conformance claims: a run as one file, and a reader who believes nothing in it that can be computed."""
