"""Starts stores: a container, a local binary, or somebody's endpoint. All answer with a `Handle`."""
