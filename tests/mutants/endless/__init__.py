"""Stores that would hold a run for ever."""
