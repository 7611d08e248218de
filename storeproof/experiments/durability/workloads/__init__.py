"""What clients do while a store is struck, and what must hold of their histories. How it is struck is a strike's."""
