"""Decisions on the site: which stores meet the needs of a file."""
