"""The machine that a run uses: its container engine, processes, ports, programs, limits and shortages."""
