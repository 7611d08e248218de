"""The numbers of workloads: how each is marked, set beside others, and told from noise."""
