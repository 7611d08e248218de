"""Articles for text workloads: imported from MediaWiki dumps, or generated from the datasets of the specification."""
