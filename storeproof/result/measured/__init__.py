"""What was measured beside the rates of workloads: outages, and what a cache did for reads."""
