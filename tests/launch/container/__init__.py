"""Containers of the project's own images."""
