"""Who is asked: one module per store, client calls only."""
