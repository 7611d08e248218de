"""Reads YAML files of the specification: source positions, inheritance, JSON Schema, error messages."""
