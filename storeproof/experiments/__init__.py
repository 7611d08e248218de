"""The experiments behind the suites: load, faults, recovery, and what was found. No pytest here."""
