"""The records that a load writes: each says which client wrote it and when, so that what is read back can be judged."""
