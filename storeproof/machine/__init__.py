"""The machine under a run: its container engine, processes, ports, programs, limits and shortages."""
