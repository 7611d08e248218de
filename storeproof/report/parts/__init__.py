"""What the run's report, the other pages and the site are made of: each part is made once, here."""
