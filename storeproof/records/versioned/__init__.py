"""Records that show which version they are, to transactions that read, replace, extend or look for them."""
