"""The loads of all roles of a candidate, at the same time on the same machine."""
