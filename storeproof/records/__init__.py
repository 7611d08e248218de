"""Self-verifying records: each identifies the client and the request that wrote it, so that it can be checked when read back."""
