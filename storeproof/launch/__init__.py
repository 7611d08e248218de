"""Launchers: run a store as a container or a local process, or connect to the user's endpoint. Each provides a `Handle`."""
