"""Where a store's I/O goes: by kind of file, from the client's bytes to those of the device, and how long threads wait for it."""
