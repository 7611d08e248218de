"""Texts for load: articles out of a MediaWiki dump, or put together from the specification's own, for models whose texts are searched."""
