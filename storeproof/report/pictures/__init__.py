"""The pictures of a report, which matplotlib draws."""
