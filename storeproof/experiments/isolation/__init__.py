"""Random transactions of concurrent clients, and whether what they saw is what their isolation level allows."""
