"""Load on a store, and what makes a number of it: engines, warm-up, rounds, statistics, gates, and the audit afterwards."""
