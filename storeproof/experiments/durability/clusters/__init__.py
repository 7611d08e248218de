"""The rounds of a guarantee on a cluster, and what is looked at in them beside losses."""
