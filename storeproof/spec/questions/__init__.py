"""Files that ask something of results, and demand nothing of a store: published claims, and a reader's needs. Outside the edition."""
