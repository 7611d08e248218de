"""Numbers set against each other: their ratio, the store that they are to, what indexes cost, noise floors, and agreement of two runs."""
