"""The pictures of a report. Most of them matplotlib draws."""
