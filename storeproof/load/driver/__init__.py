"""The driver engine: the store's own client library in worker processes."""
