"""Self-verifying records: each names the client and the request that wrote it, so that what is read back can be checked."""
