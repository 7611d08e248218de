"""What a store may keep beside a record that belongs to it: its expiry, and its entry in an index."""
