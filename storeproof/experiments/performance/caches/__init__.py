"""What the front of a composite store does for reads: hit rates, a start with an empty front, and a hot copy that expires."""
