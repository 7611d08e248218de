"""Clusters of MySQL, MariaDB and NDB: what forms each, finds its primary, and gives a node its data back."""
