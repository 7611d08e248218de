"""The wire engine: repeats the requests of the store's ordinary client with other keys in them, from compiled code."""
