"""Load from several hosts, which Dask connects."""
