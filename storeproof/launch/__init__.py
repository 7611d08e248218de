"""Starts stores: a container, a local binary, or the user's endpoint. All answer with a `Handle`."""
