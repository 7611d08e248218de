"""Statistics: intervals over rounds, ratios, latency histograms, steady state. Numbers in, numbers out."""
