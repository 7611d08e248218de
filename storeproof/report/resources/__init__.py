"""What stores were given of the machine, and what they used of it."""
