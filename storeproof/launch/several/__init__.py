"""Several servers as one store: a front over a home, and the nodes of a cluster."""
