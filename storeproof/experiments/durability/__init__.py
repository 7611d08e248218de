"""Experiments on durability: clients that write and note it, faults, and what is read back afterwards."""
