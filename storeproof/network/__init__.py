"""A small network on this machine: a namespace for each node of a cluster, and faults of the network between them."""
