"""How a store is struck and comes back: one server, or a cluster. What clients do meanwhile is a workload's."""
