"""Claims of isolation levels, true ones and forged ones."""
