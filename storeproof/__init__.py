"""A specification for data stores, and the trial that proves a store keeps it."""

__version__ = "0.3.0"
