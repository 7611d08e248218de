"""Texts for load on models with text search: articles from a MediaWiki dump, or generated from the texts of the specification."""
