"""Whether what belongs to records survives a fault with them: times to live, indexes, types, change feeds, collections."""
