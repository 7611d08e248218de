"""Transfers and sessions through faults of one server in this process."""
