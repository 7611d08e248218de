"""Experiments on speed: workloads in interleaved rounds, and outages under an open loop."""
