"""Signals: before the first case, and where the main thread does not come to its end."""
