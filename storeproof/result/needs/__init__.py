"""Holds results against a reader's needs: what each candidate meets, misses, and has not shown."""
